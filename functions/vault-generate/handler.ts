import type { Handler } from '../../shared/http/handler.ts'
import { callVault } from '../../shared/vault/ask.ts'
import type { vaultGenerate } from './contract.ts'

export const run: Handler<typeof vaultGenerate> = (wish, { world, credential }) =>
  callVault(world, (vault) => vault.generate({ credential, wish }))
