import type { Handler } from '../../shared/http/handler.ts'
import { callVault } from '../../shared/vault/ask.ts'
import type { vaultLogin } from './contract.ts'

export const run: Handler<typeof vaultLogin> = (
  { credential_id: credentialId, path, fields = {} },
  { world, credential, claim },
) => callVault(world, (vault) => vault.login({ credential, credentialId, path, fields, claim }))
