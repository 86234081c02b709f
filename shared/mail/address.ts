/**
 * Addresses that a mail may be sent to or from. What passes these checks can be written into a header
 * or an SMTP command unchanged: it is one address, needs no quoting, and cannot start another line.
 */
import { type Config, required } from '../env.ts'

// The pattern of HTML's e-mail input, which leaves out RFC 5321's quoted local parts on purpose.
const address = "[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*"
const lengthMax = 254
const plain = new RegExp(`^${address}$`)
const named = new RegExp(`^[A-Za-z0-9 .-]{1,64} <(${address})>$`)

/** Returns true if mail can be sent to this address. */
export function isAddress(text: string): boolean {
  return text.length <= lengthMax && plain.test(text)
}

/** Returns the canonical spelling of a mail address, which identifies one owner. */
export function canonicalEmail(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

/** Returns the address that notices are sent from. */
export function noticeAddress(config: Config): string {
  return `no-reply@${required(config, 'NOTICE_DOMAIN')}`
}

/** Returns the bare address of a sender, which may have a name. Throws if there is no valid address. */
export function senderAddress(from: string): string {
  const found = named.exec(from)?.[1] ?? from
  if (!isAddress(found)) throw new Error('the sender of a mail is no address')
  return found
}
