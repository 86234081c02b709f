import type { Handler } from '../../shared/http/handler.ts'
import { callVault } from '../../shared/vault/ask.ts'
import type { vaultStore } from './contract.ts'

export const run: Handler<typeof vaultStore> = (entry, { world, credential }) =>
  callVault(world, (vault) => vault.store({ credential, entry }))
