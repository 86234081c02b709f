import type { Handler } from '../../shared/http/handler.ts'
import { callVault } from '../../shared/vault/ask.ts'
import type { vaultTotp } from './contract.ts'

export const run: Handler<typeof vaultTotp> = ({ credential_id }, { world, credential }) =>
  callVault(world, (vault) => vault.totp({ credential, entry: credential_id }))
