import { Page, sendPage } from '../layout.tsx'
import { LinkButton } from '../ui/form.tsx'
import { Notice } from '../ui/show.tsx'
import type { Owner, PageContext } from '../visit.ts'
import { KeyOnce, keyScripts } from './key-once.tsx'

/** Answers the form that made a key, with the key. */
export function showNewKey(c: PageContext, me: Owner, key: string, note: string) {
  return sendPage(
    c,
    <Page c={c} title="Your new API key" owner={me} scripts={keyScripts}>
      <Notice kind="warning" title="Copy it now">
        It is shown this once. {note}
      </Notice>
      <KeyOnce c={c} apiKey={key} />
      <p class="actions">
        <LinkButton kind="main" to="/keys">
          I have saved the key
        </LinkButton>
      </p>
    </Page>,
  )
}
