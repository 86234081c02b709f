/**
 * Reads from a payment's terms how it is signed. Terms may name an order, which the payee, a contract, carries out
 * with the money. The payment's nonce and its consent both commit to the order, so whoever holds the signature can
 * have nothing else done. Custody does not know the content of an order. Plain data: it is read wherever a payment
 * is signed, priced or sent.
 */
import { concat, isHex, keccak256 } from 'viem'
import * as z from 'zod'
import type { Hex } from '../chains/hex.ts'
import type { Permit2Form } from './typed-digest.ts'

/** Way to sign a payment: EIP-3009, alone, with an order or for an MPP challenge; or a permit of Permit2. */
export type PaymentForm =
  | { kind: 'transfer' }
  | { kind: 'order'; order: Hex }
  | { kind: 'challenge'; requirement: Record<string, unknown> }
  | ({ kind: 'permit2' } & Permit2Form)

const hex = z.custom<Hex>((value) => isHex(value))
const orderTerms = z
  .object({ carrier: z.object({ order: hex }), request_digest: z.string() })
  .refine(({ carrier, request_digest: digest }) => digest === orderDigest(carrier.order))
const challengeTerms = z.object({ requirement: z.record(z.string(), z.unknown()) })
const uptoTerms = z.object({
  scheme: z.literal('upto'),
  requirement: z.object({ extra: z.object({ facilitatorAddress: z.string() }) }),
})

/** Returns the form that the terms name. Throws if the consent was about another order than theirs. */
export function formOf(terms: Record<string, unknown>): PaymentForm {
  const { carrier, protocol, transfer_method: method, scheme } = terms
  if (carrier !== undefined) return { kind: 'order', order: orderTerms.parse(terms).carrier.order }
  if (protocol === 'mpp') return { kind: 'challenge', ...challengeTerms.parse(terms) }
  if (method !== 'permit2') return { kind: 'transfer' }
  if (scheme === 'exact') return { kind: 'permit2', scheme }
  const { extra } = uptoTerms.parse(terms).requirement
  return { kind: 'permit2', scheme: 'upto', facilitator: extra.facilitatorAddress }
}

/** Returns the order's keccak-256 in the form in which consent names it: 64 hex digits. */
export function orderDigest(order: Hex): string {
  return keccak256(order).slice(2)
}

/** Returns the nonce that commits to an order: keccak-256 of the payment's own nonce and the order's hash. */
export function committedNonce(base: Hex, order: Hex): Hex {
  return keccak256(concat([base, keccak256(order)]))
}

/** Returns how many calls of a transaction a payment counts as, as private.call_units does. */
export function callUnits(hasOrder: boolean): number {
  return hasOrder ? 8 : 1
}
