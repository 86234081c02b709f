/** A login as our forms send it. An empty field means no change. */
import type * as z from 'zod'
import { fail, isRefusal, type Refusal, Rejection } from '../../../shared/contract/errors.ts'
import { storeRequest } from '../../../shared/contract/vault-entry.ts'
import type { StoredEntry } from '../../../shared/vault/entries/entries-port.ts'
import type { PageContext } from '../visit.ts'
import { vaultOf } from './vault-port.ts'

type Which = { site: string; username: string; version?: number }

/** Reads the login for this site and user name, or refuses with the part that cannot be stored. */
export function typedLogin(
  form: URLSearchParams,
  which: Which,
): z.output<typeof storeRequest> | Refusal<'credential_refused'> {
  const text = (name: string) => form.get(name) ?? ''
  const fields = fieldsIn(text('fields'))
  const read = storeRequest.safeParse({
    ...which,
    ...part('password', text('password')),
    ...part('totp_secret', text('totp_secret').trim(), form.has('drop_totp')),
    ...part('notes', text('notes').replaceAll('\r\n', '\n'), form.has('drop_notes')),
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
  })
  return read.success ? read.data : refusedAt(read.error.issues[0]?.path[0])
}

/** Refusals that the form itself can show; all others become a page of their own. */
const answered: readonly string[] = ['credential_refused', 'site_refused', 'conflict']

/** Stores what the owner typed, if the stored entry still has this version. */
export async function storeTyped(
  c: PageContext,
  credential: string,
  form: URLSearchParams,
  which: { site: string; username: string; version: number },
): Promise<StoredEntry | Refusal> {
  const entry = typedLogin(form, which)
  if (isRefusal(entry)) return entry
  const stored = await vaultOf(c).store({ credential, entry })
  if (isRefusal(stored) && !answered.includes(stored.refusal)) throw new Rejection(stored)
  return stored
}

function part(name: string, typed: string, isDropped = false): object {
  if (typed !== '') return { [name]: typed }
  return isDropped ? { [name]: null } : {}
}

/** Reads further secrets, one a line, as `name: value`; a name alone deletes the field. */
function fieldsIn(text: string): Record<string, string | null> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':')
      return [name.trim(), value.join(':').trim() || null]
    }),
  )
}

const names: Readonly<Record<string, string>> = {
  site: 'the site',
  username: 'the user name',
  password: 'the password',
  totp_secret: 'the authenticator secret',
  fields: 'the further secrets, which are one a line as name: value',
  notes: 'the notes',
}

function refusedAt(part: PropertyKey | undefined): Refusal<'credential_refused'> {
  const name = names[String(part)] ?? 'what you entered'
  return fail('credential_refused', { message: `It is too long or cannot be read: ${name}.` })
}
