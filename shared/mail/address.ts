/**
 * Addresses that a mail may be sent to or from. What passes here can be written into a header or an
 * SMTP command as it is: one address, no quoting, no way to begin another line or another recipient.
 */

import { type Config, required } from '../env.ts'

// The pattern of HTML's e-mail input, which leaves out RFC 5321's quoted local parts on purpose.
const address = "[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)*"
const lengthMax = 254
const plain = new RegExp(`^${address}$`)
const named = new RegExp(`^[A-Za-z0-9 .-]{1,64} <(${address})>$`)

/** Whether mail can be sent to this text. */
export function isAddress(text: string): boolean {
  return text.length <= lengthMax && plain.test(text)
}

/** The one spelling of a mail address: it names one owner. */
export function canonicalEmail(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

/** Where notices come from. */
export function noticeAddress(config: Config): string {
  return `no-reply@${required(config, 'NOTICE_DOMAIN')}`
}

/** The bare address of a sender, who may have a name; throws when it is neither. */
export function senderAddress(from: string): string {
  const found = named.exec(from)?.[1] ?? from
  if (!isAddress(found)) throw new Error('the sender of a mail is no address')
  return found
}
