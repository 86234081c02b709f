import type { Handler } from '../../shared/http/handler.ts'
import { askVault } from '../../shared/vault/ask.ts'
import { listEntries } from '../../shared/vault/list-entries.ts'
import type { storeSiteCredentials, userSiteCredentials } from './contract.ts'

export const store: Handler<typeof storeSiteCredentials> = (entry, { world, credential }) =>
  askVault(world, (vault) => vault.store({ credential, entry }))

export const list: Handler<typeof userSiteCredentials> = async (input, context) => {
  const { credential_id, ...page } = input
  if (credential_id === undefined) return listEntries(context, 'read', page)
  const { world, credential } = context
  const read = await askVault(world, (vault) => vault.read({ credential, entry: credential_id }))
  return { credentials: [read], next_cursor: null }
}
