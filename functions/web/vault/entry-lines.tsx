/** Facts about a login, without its secrets. */
import type { VaultPort } from '../../../shared/vault/port.ts'
import type { PageContext } from '../visit.ts'
import type { OwnerEntry } from './vault-data.ts'

/** Lists the kinds of secrets that a login has. */
export function Holds({ entry }: { entry: OwnerEntry['listed'] }) {
  const { has_password, has_totp, field_names } = entry
  const parts = [has_password && 'password', has_totp && 'one-time codes', ...field_names]
  return <>{parts.filter(Boolean).join(', ')}</>
}

/** Shows who made a login, and the key or app whose link asked for it. */
export function Maker({ entry: { maker, asker } }: { entry: OwnerEntry }) {
  const asked = asker === null ? '' : `, asked by ${asker}`
  return <>{(maker ?? 'You') + asked}</>
}

/** Returns the vault, which is a binding of the app. */
export function vaultOf(c: PageContext): VaultPort {
  const { vault } = c.get('world')
  if (!vault) throw new Error('VAULT is not bound')
  return vault
}
