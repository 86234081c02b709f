/** The one time that an API key is seen, with the lines that an agent's settings want. */
import { Page, show } from '../layout.tsx'
import type { Owner, Visit } from '../visit.ts'
import { LinkButton } from './form.tsx'
import { Notice } from './show.tsx'

export function showNewKey(c: Visit, me: Owner, key: string, note: string) {
  const settings = `AOA_API_KEY=${key}\nAOA_BASE_URL=${c.get('world').config.BASE_URL}`
  return show(
    c,
    <Page c={c} title="Your new API key" owner={me} scripts={['copy']}>
      <Notice kind="warning" title="Copy it now">
        It is shown this once. {note}
      </Notice>
      <section>
        <h2>API key</h2>
        <pre data-copy={key}>{key}</pre>
      </section>
      <section>
        <h2>Lines for your agent's settings</h2>
        <p class="quiet">Put them where your agent keeps its settings, not into a chat.</p>
        <pre data-copy={settings}>{settings}</pre>
      </section>
      <p class="actions">
        <LinkButton kind="main" to="/keys">
          I have kept the key
        </LinkButton>
      </p>
    </Page>,
  )
}
