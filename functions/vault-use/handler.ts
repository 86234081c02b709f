import type { Handler } from '../../shared/http/handler.ts'
import { callVault } from '../../shared/vault/ask.ts'
import type { vaultUse } from './contract.ts'

export const run: Handler<typeof vaultUse> = (
  { credential_id: credentialId, ...template },
  { world, credential, claim },
) => callVault(world, (vault) => vault.use({ credential, credentialId, template, claim }))
