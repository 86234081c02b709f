/** What is told of a login without its secrets. */
import type { OwnEntry } from '../data/vault.ts'

export function Holds({ entry }: { entry: OwnEntry['listed'] }) {
  const { has_password, has_totp, field_names } = entry
  const parts = [has_password && 'password', has_totp && 'one-time codes', ...field_names]
  return <>{parts.filter(Boolean).join(', ')}</>
}

/** The key or the app that made it, by the words of the database. */
export function Maker({ label }: { label: string | null }) {
  return <>{label ?? 'You'}</>
}
