/** Addresses of mailboxes of this service: `alias@MAIL_DOMAIN`, and also `alias+anything@MAIL_DOMAIN`. */
import type { Config } from '../env.ts'

/** Returns the alias that an address names, or undefined for an address of another domain. */
export function aliasOf({ MAIL_DOMAIN }: Config, address: string): string | undefined {
  const at = address.lastIndexOf('@')
  if (address.slice(at + 1).toLowerCase() !== MAIL_DOMAIN.toLowerCase()) return undefined
  return address.slice(0, Math.max(at, 0)).toLowerCase().split('+')[0]
}
