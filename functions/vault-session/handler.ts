import type { Handler } from '../../shared/http/handler.ts'
import { callVault } from '../../shared/vault/ask.ts'
import type { vaultSession } from './contract.ts'

export const run: Handler<typeof vaultSession> = (input, { world, credential, claim }) => {
  const order = { ...input, fields: input.fields ?? {}, credential, claim }
  return callVault(world, (vault) => vault.goOn(order), { tool: 'vault_session', arguments: input })
}
