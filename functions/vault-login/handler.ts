import type { Handler } from '../../shared/http/handler.ts'
import { callVault } from '../../shared/vault/ask.ts'
import type { vaultLogin } from './contract.ts'

export const run: Handler<typeof vaultLogin> = (input, { world, credential, claim }) => {
  const { credential_id: credentialId, path, fields = {} } = input
  const order = { credential, credentialId, path, fields, claim }
  return callVault(world, (vault) => vault.login(order), { tool: 'vault_login', arguments: input })
}
