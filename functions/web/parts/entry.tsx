/** What is told of a login without its secrets. */
import type { OwnEntry } from '../data/vault.ts'

export function Holds({ entry }: { entry: OwnEntry['listed'] }) {
  const { has_password, has_totp, field_names } = entry
  const parts = [has_password && 'password', has_totp && 'one-time codes', ...field_names]
  return <>{parts.filter(Boolean).join(', ')}</>
}

/** Who made it, by the words of the database; a key or app may have asked the owner for it. */
export function Maker({ entry: { maker, asker } }: { entry: OwnEntry }) {
  const asked = asker === null ? '' : `, asked by ${asker}`
  return <>{(maker ?? 'You') + asked}</>
}
