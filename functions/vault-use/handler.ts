import type { Handler } from '../../shared/http/handler.ts'
import { askVault } from '../../shared/vault/ask.ts'
import type { vaultUse } from './contract.ts'

export const run: Handler<typeof vaultUse> = (
  { credential_id: credentialId, ...template },
  { world, credential, claim },
) => askVault(world, (vault) => vault.use({ credential, credentialId, template, claim }))
