/** Addresses of mailboxes here: `alias@MAIL_DOMAIN`, and `alias+anything@MAIL_DOMAIN` beside it. */
import type { Config } from '../env.ts'

/** The alias that an address names; undefined for an address elsewhere. */
export function aliasOf({ MAIL_DOMAIN }: Config, address: string): string | undefined {
  const at = address.lastIndexOf('@')
  if (address.slice(at + 1).toLowerCase() !== MAIL_DOMAIN.toLowerCase()) return undefined
  return address.slice(0, Math.max(at, 0)).toLowerCase().split('+')[0]
}
