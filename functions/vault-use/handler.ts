import type { Handler } from '../../shared/http/handler.ts'
import { callVault } from '../../shared/vault/ask.ts'
import type { vaultUse } from './contract.ts'

export const run: Handler<typeof vaultUse> = (input, { world, credential, claim }) => {
  const { credential_id: credentialId, ...template } = input
  const order = { credential, credentialId, template, claim }
  return callVault(world, (vault) => vault.use(order), { tool: 'vault_use', arguments: input })
}
