import { Page, show } from '../layout.tsx'
import type { Owner, Visit } from '../visit.ts'
import { LinkButton } from './form.tsx'
import { KeyOnce, keyScripts } from './key-once.tsx'
import { Notice } from './show.tsx'

/** Answers the form that made a key. */
export function showNewKey(c: Visit, me: Owner, key: string, note: string) {
  return show(
    c,
    <Page c={c} title="Your new API key" owner={me} scripts={keyScripts}>
      <Notice kind="warning" title="Copy it now">
        It is shown this once. {note}
      </Notice>
      <KeyOnce c={c} apiKey={key} />
      <p class="actions">
        <LinkButton kind="main" to="/keys">
          I have kept the key
        </LinkButton>
      </p>
    </Page>,
  )
}
