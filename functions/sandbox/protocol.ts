/** Protocols of HTTP 402 over the same offers and the same authorization. */
import type { Settlement } from './facilitator.ts'
import type { TestOffer } from './offers.ts'
import type { TestPayment } from './payment.ts'

/** Names and values of headers; a name may occur twice. */
export type HeaderPairs = readonly (readonly [name: string, value: string])[]

/** Request that costs money. */
export type PricedRequest = { url: string; at: Date; id: string }

/** A protocol of HTTP 402. */
export type Protocol = {
  /** Returns headers and body of the answer to a request that is not paid for; `error` is a sentence. */
  challenge(
    offers: readonly TestOffer[],
    request: PricedRequest,
    error: string,
  ): { headers: HeaderPairs; body: object }
  /** Reads a payment: undefined if there is none, a sentence if it is for none of the offers. */
  read(
    headers: Headers,
    offers: readonly TestOffer[],
    request: PricedRequest,
  ): TestPayment | string | undefined
  /** Returns the headers that tell the outcome of settling. */
  receipt(
    payment: TestPayment,
    outcome: Exclude<Settlement, { kind: 'unknown' }>,
    at: Date,
  ): HeaderPairs
}

/** Sentence of a payment that is in another form than its protocol's. */
export const unreadable = 'The payment cannot be read.'
/** Sentence of a payment whose terms are not those of the sandbox. */
export const otherOffer = 'The payment is for another network, token, amount or recipient.'
