/**
 * Computes the EIP-3009 nonce of a payment. It follows from the payment alone and is fixed before anything
 * is signed, so the token itself lets a payment through at most once.
 */
import { type Hex, isAddress, keccak256, stringToBytes } from 'viem'
import * as z from 'zod'
import { committedNonce, formOf } from './payment-form.ts'

// RFC 9562 section 4, in the one spelling from which the nonce is made.
const canonicalUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Values that determine a payment's nonce. */
export type NonceSource = { chainId: number; token: string; paymentId: string }

/**
 * Returns the text from which a payment's nonce is made: `aoa.payment.v1|eip155:<chain id>|<token>|<payment
 * id>`, with the chain id in decimal, the token's address and the payment's UUID in lower case.
 */
function noncePreimage({ chainId, token, paymentId }: NonceSource): string {
  return `aoa.payment.v1|eip155:${chainId}|${token.toLowerCase()}|${paymentId.toLowerCase()}`
}

/**
 * Returns keccak-256 over the UTF-8 of the preimage. Anyone who is told the payment id can repeat this and
 * find the nonce in the token's `AuthorizationUsed` log (EIP-3009), which shows that this transaction
 * settled this payment. The nonce cannot be guessed without the id.
 */
export function authorizationNonce(source: NonceSource): Hex {
  const { chainId, token, paymentId } = source
  if (!Number.isSafeInteger(chainId) || chainId < 1) throw new Error('not a chain id')
  if (!isAddress(token)) throw new Error('not a token address')
  if (!canonicalUuid.test(paymentId.toLowerCase())) throw new Error('not a payment id')
  return keccak256(stringToBytes(noncePreimage(source)))
}

/** Stored payment; `terms` are those that it was entered with. */
export type StoredPayment = {
  id: string
  chain: number
  token: string
  terms: Record<string, unknown>
}

const challengeFields = z.object({ id: z.string(), realm: z.string() })

/** Returns the text from which the nonce for an MPP challenge is made (draft-evm-charge, section 5.3). */
function challengePreimage(requirement: Record<string, unknown>): string {
  const { id, realm } = challengeFields.parse(requirement)
  return `${id}${realm}`
}

/** Returns the nonce of an answer to an MPP challenge. */
export function challengeNonce(requirement: Record<string, unknown>): Hex {
  return keccak256(stringToBytes(challengePreimage(requirement)))
}

/**
 * Returns the text whose keccak-256 is a stored payment's nonce: its own, or its challenge's. A nonce that commits
 * to an order has none, and Permit2 writes no nonce into logs.
 */
export function storedPreimage({ id, chain, token, terms }: StoredPayment): string | null {
  const form = formOf(terms)
  if (form.kind === 'challenge') return challengePreimage(form.requirement)
  const source = { chainId: chain, token, paymentId: id }
  return form.kind === 'transfer' ? noncePreimage(source) : null
}

/** Returns the nonce with which a stored payment is signed. */
export function storedNonce({ id: paymentId, chain: chainId, token, terms }: StoredPayment): Hex {
  const form = formOf(terms)
  if (form.kind === 'challenge') return challengeNonce(form.requirement)
  const base = authorizationNonce({ chainId, token, paymentId })
  return form.kind === 'order' ? committedNonce(base, form.order) : base
}
