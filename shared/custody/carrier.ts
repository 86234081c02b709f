/**
 * Reads the order that a payment's terms may name, which its payee, a contract, carries out with the money. The
 * payment's nonce and its consent both commit to the order, so whoever holds the signature can have nothing
 * else done. Custody does not know the content of an order. Plain data: it is read wherever a payment is
 * signed, priced or sent.
 */
import { concat, isHex, keccak256 } from 'viem'
import * as z from 'zod'
import type { Hex } from '../chains/hex.ts'

const hex = z.custom<Hex>((value) => isHex(value))
const carrierTerms = z
  .object({ carrier: z.object({ order: hex }), request_digest: z.string() })
  .refine(({ carrier, request_digest: digest }) => digest === orderDigest(carrier.order))

/** Returns the order's keccak-256 in the form in which consent names it: 64 hex digits. */
export function orderDigest(order: Hex): string {
  return keccak256(order).slice(2)
}

/** Returns the order of a payment; undefined if it has none. Throws if its consent was about another one. */
export function orderOf(terms: Record<string, unknown>): Hex | undefined {
  return terms['carrier'] === undefined ? undefined : carrierTerms.parse(terms).carrier.order
}

/** Returns the nonce that commits to an order: keccak-256 of the payment's own nonce and the order's hash. */
export function committedNonce(base: Hex, order: Hex): Hex {
  return keccak256(concat([base, keccak256(order)]))
}

/** Returns how many calls of a transaction one with this carrier counts as, as private.call_units does. */
export function callUnits(carrier: unknown): number {
  return carrier === undefined || carrier === null ? 1 : 8
}
