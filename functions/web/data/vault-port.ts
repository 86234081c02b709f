/** What the owner's pages and the pages of links ask of the vault. */
import type { Refusal } from '../../../shared/contract/errors.ts'
import { isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import type { StoredEntry } from '../../../shared/vault/entries-port.ts'
import type { VaultPort } from '../../../shared/vault/port.ts'
import { owner } from '../frame.ts'
import type { Visit } from '../visit.ts'
import { typedLogin } from './typed-login.ts'

/** The vault as a binding of the app. */
export function vaultOf(c: Visit): VaultPort {
  const { vault } = c.get('world')
  if (!vault) throw new Error('VAULT is not bound')
  return vault
}

/** Refusals that a form can answer; what else is refused is a page of its own. */
const answered: readonly string[] = ['credential_refused', 'site_refused', 'conflict']

/** Has what the owner typed kept, in the place of this version and of no other. */
export async function storeTyped(
  c: Visit,
  form: URLSearchParams,
  which: { site: string; username: string; version: number },
): Promise<StoredEntry | Refusal> {
  const { credential } = await owner(c)
  const entry = typedLogin(form, which)
  if (isRefusal(entry)) return entry
  const stored = await vaultOf(c).store({ credential, entry })
  if (isRefusal(stored) && !answered.includes(stored.refusal)) throw new Rejection(stored)
  return stored
}
