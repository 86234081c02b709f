/** Facts about a login, without its secrets. */
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
