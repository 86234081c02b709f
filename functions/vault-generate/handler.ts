import type { Handler } from '../../shared/http/handler.ts'
import { askVault } from '../../shared/vault/ask.ts'
import type { vaultGenerate } from './contract.ts'

export const run: Handler<typeof vaultGenerate> = (wish, { world, credential }) =>
  askVault(world, (vault) => vault.generate({ credential, wish }))
