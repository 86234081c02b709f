/** A login as forms of ours carry it. An empty field says nothing. */
import type * as z from 'zod'
import type { Refusal } from '../../../shared/contract/errors.ts'
import { fail, isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { storeRequest } from '../../../shared/contract/vault-entry.ts'
import type { StoredEntry } from '../../../shared/vault/entries-port.ts'
import type { Visit } from '../visit.ts'
import { vaultOf } from './vault-port.ts'

type Which = { site: string; username: string; version?: number }

/** What was typed for this site and user name, or which part of it cannot be kept. */
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

/** Refusals that a form can answer; what else is refused is a page of its own. */
const answered: readonly string[] = ['credential_refused', 'site_refused', 'conflict']

/** Has what the owner typed kept, in the place of this version and of no other. */
export async function storeTyped(
  c: Visit,
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

/** One a line, `name: value`; a name alone takes the field away. */
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
