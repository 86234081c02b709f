/** Has the vault keep what the owner typed into a form, or says what is wrong with it. */
import type { Refusal } from '../../../shared/contract/errors.ts'
import { fail, isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { storeRequest } from '../../../shared/contract/vault-entry.ts'
import { owner } from '../frame.ts'
import type { Visit } from '../visit.ts'
import { secretIn } from './typed-secret.ts'
import { vaultOf } from './vault-port.ts'

type Which = { site: string; username: string; version: number }

/** Refusals that the form itself can answer; what else is refused is a page of its own. */
const answered: readonly string[] = ['credential_refused', 'site_refused', 'conflict']

export async function storeTyped(c: Visit, form: URLSearchParams, which: Which) {
  const { credential } = await owner(c)
  const entry = storeRequest.safeParse({ ...which, ...secretIn(form) })
  if (!entry.success) return refusedAt(entry.error.issues[0]?.path[0])
  const stored = await vaultOf(c).store({ credential, entry: entry.data })
  if (isRefusal(stored) && !answered.includes(stored.refusal)) throw new Rejection(stored)
  return stored
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
  return fail('credential_refused', { message: `It is too long, or is no such thing: ${name}.` })
}
