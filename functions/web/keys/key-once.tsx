/**
 * The only view of an API key: the key itself, and the lines for an agent's settings. The answer to the
 * form contains it and nothing stores it; a page that the browser returns to no longer has it.
 */
import { Section } from '../ui/show.tsx'
import type { PageContext } from '../visit.ts'
import { ClientConfigs, clientConfigs, Once } from './client-configs.tsx'

/** Scripts that a page with a key needs: one to copy it, one to remove it. */
export const keyScripts = ['copy', 'once'] as const

/** Shows the key and the lines for the settings. */
export function KeyOnce({ c, apiKey }: { c: PageContext; apiKey: string }) {
  const { BASE_URL } = c.get('world').config
  return (
    <>
      <Section title="API key">
        <Once text={apiKey} />
      </Section>
      <Section title="Configurations with this key">
        <ClientConfigs configs={clientConfigs(BASE_URL, apiKey)} />
      </Section>
      <Section title="Lines for your agent's settings">
        <p class="quiet">Put them where your agent keeps its settings, not into a chat.</p>
        <Once text={`AOA_API_KEY=${apiKey}\nAOA_BASE_URL=${BASE_URL}`} />
      </Section>
    </>
  )
}
