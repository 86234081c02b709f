import type { VaultPort } from '../../../shared/vault/port.ts'
import type { Visit } from '../visit.ts'

/** The vault as a binding of the app. */
export function vaultOf(c: Visit): VaultPort {
  const { vault } = c.get('world')
  if (!vault) throw new Error('VAULT is not bound')
  return vault
}
