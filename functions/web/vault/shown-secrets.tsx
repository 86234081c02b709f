/**
 * The secrets of a login, for its owner. Only the answer to the form contains them; no page with an
 * address of its own does.
 */

import type { ReadEntry } from '../../../shared/vault/entries/entries-port.ts'
import { requireOwner } from '../frame.ts'
import { keyScripts, Once } from '../keys/key-once.tsx'
import { Page, sendPage } from '../layout.tsx'
import { Section } from '../ui/show.tsx'
import { siteName } from '../ui/site.tsx'
import type { PageContext } from '../visit.ts'
import { usernameShown } from './login-fields.tsx'
import type { OwnerEntry } from './vault-data.ts'

type Secret = NonNullable<ReadEntry['secret']>

/** Shows each secret, to be copied. */
export async function showSecrets(c: PageContext, entry: OwnerEntry['listed'], secret: Secret) {
  return sendPage(
    c,
    <Page
      c={c}
      title={`Secrets for ${siteName(entry.site)}`}
      owner={await requireOwner(c)}
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
  const { password, previous_passwords = [], totp, notes, fields = {} } = secret
  const parts: [title: string, text: string | undefined][] = [
    ['Password', password],
    [`One-time code, good for ${totp?.seconds_left ?? 0} seconds`, totp?.code],
    ...Object.entries(fields),
    ['Notes', notes],
    ...previous_passwords.map((one): [string, string] => ['A password before it', one]),
  ]
  return parts.flatMap(([title, text]) => (text === undefined ? [] : [[title, text] as const]))
}
