/** Reads what a transaction that the service gave out contains; anyone can read it there. */
import { Transaction } from 'ethers'

// transferWithAuthorization with its signature in three words, and with it as bytes.
const authorization = /e3ee160e[0-9a-f]{576}|cf092995[0-9a-f]{704}/g
const plainTransfer = /a9059cbb/

/** Returns the calls that use an authorization of any payer. */
export function authorizationsIn(raw: string): string[] {
  return [...raw.matchAll(authorization)].map(([call]) => `0x${call}`)
}

/** Decides whether these bytes move money of a wallet once they are mined. */
export function movesMoneyOf(raw: string, wallet: string): boolean {
  const padded = wallet.slice(2).toLowerCase().padStart(64, '0')
  if (authorizationsIn(raw).some((call) => call.slice(10, 74) === padded)) return true
  if (!plainTransfer.test(raw)) return false
  return Transaction.from(raw).from?.toLowerCase() === wallet.toLowerCase()
}
