import type { Handler } from '../../shared/http/handler.ts'
import { callVault } from '../../shared/vault/ask.ts'
import type { vaultSession } from './contract.ts'

export const run: Handler<typeof vaultSession> = (
  { fields = {}, ...order },
  { world, credential, claim },
) => callVault(world, (vault) => vault.goOn({ ...order, fields, credential, claim }))
