/**
 * The secrets of a login, for its owner. They are answered to the form itself and are on no page that
 * has an address to come back to.
 */

import type { ReadEntry } from '../../../shared/vault/entries-port.ts'
import type { OwnEntry } from '../data/vault.ts'
import { owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import type { Visit } from '../visit.ts'
import { keyScripts, Once } from './key-once.tsx'
import { usernameShown } from './login-fields.tsx'
import { Section } from './show.tsx'
import { siteName } from './site.tsx'

type Secret = NonNullable<ReadEntry['secret']>

export async function showSecrets(c: Visit, entry: OwnEntry['listed'], secret: Secret) {
  return show(
    c,
    <Page
      c={c}
      title={`Secrets for ${siteName(entry.site)}`}
      owner={await owner(c)}
      back={{ to: `/vault/${entry.credential_id}`, label: 'The login' }}
      lead={usernameShown(entry)}
      scripts={keyScripts}
    >
      {partsOf(secret).map(([title, text]) => (
        <Section title={title}>
          <Once text={text} />
        </Section>
      ))}
    </Page>,
  )
}

function partsOf(secret: Secret) {
  const { password, new_password, previous_passwords = [], totp, notes, fields = {} } = secret
  const parts: [title: string, text: string | undefined][] = [
    ['Password', password],
    ['A new password that the site may have taken', new_password],
    [`One-time code, good for ${totp?.seconds_left ?? 0} seconds`, totp?.code],
    ...Object.entries(fields),
    ['Notes', notes],
    ...previous_passwords.map((one): [string, string] => ['A password before it', one]),
  ]
  return parts.flatMap(([title, text]) => (text === undefined ? [] : [[title, text] as const]))
}
