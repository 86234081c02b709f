import type { VaultPort } from '../../../shared/vault/port.ts'
import type { PageContext } from '../visit.ts'

/** Returns the vault, which is a binding of the app. */
export function vaultOf(c: PageContext): VaultPort {
  const { vault } = c.get('world')
  if (!vault) throw new Error('VAULT is not bound')
  return vault
}
