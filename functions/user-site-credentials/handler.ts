import type { Handler } from '../../shared/http/handler.ts'
import { callVault } from '../../shared/vault/ask.ts'
import { listEntries } from '../../shared/vault/entries/list-entries.ts'
import type { storeSiteCredentials, userSiteCredentials } from './contract.ts'

/** Stores a login through the vault. */
export const runPost: Handler<typeof storeSiteCredentials> = (entry, { world, credential }) =>
  callVault(world, (vault) => vault.store({ credential, entry }))

/** Lists logins without secrets, or reads one by its id through the vault. */
export const runGet: Handler<typeof userSiteCredentials> = async (input, context) => {
  const { credential_id, ...page } = input
  if (credential_id === undefined) return listEntries(context, 'read', page)
  const { world, credential } = context
  const read = await callVault(world, (vault) => vault.read({ credential, entry: credential_id }))
  return { credentials: [read], next_cursor: null }
}
