/**
 * The one time that an API key is seen: the key, and the lines that an agent's settings want. It is
 * answered to the form itself and kept nowhere; a page that is come back to has lost it.
 */
import type { Visit } from '../visit.ts'
import { Section } from './show.tsx'

/** The scripts that a page with it needs to copy and to forget. */
export const keyScripts = ['copy', 'once'] as const

export function KeyOnce({ c, apiKey }: { c: Visit; apiKey: string }) {
  const { BASE_URL } = c.get('world').config
  return (
    <>
      <Section title="API key">
        <Once text={apiKey} />
      </Section>
      <Section title="Lines for your agent's settings">
        <p class="quiet">Put them where your agent keeps its settings, not into a chat.</p>
        <Once text={`AOA_API_KEY=${apiKey}\nAOA_BASE_URL=${BASE_URL}`} />
      </Section>
    </>
  )
}

/** A text to copy now. */
export function Once({ text }: { text: string }) {
  return (
    <div>
      <pre data-copy={text} data-once>
        {text}
      </pre>
    </div>
  )
}
