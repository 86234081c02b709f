/**
 * One way to pay, as it was read from a stranger, in whichever protocol it came. What comes back in
 * the payment is kept value for value, because a server compares the echo with what it offered.
 */

import type { NamedWords } from '../mail/untrusted.ts'

/** What is signed: for the token itself, or for Permit2. */
export type TransferMethod = 'eip3009' | 'permit2'

/** A way to pay that is read and still to be judged. */
export type Offer = {
  protocol: 'x402' | 'mpp'
  /** Of x402; the Payment scheme of HTTP has none and is counted as 1. */
  version: 1 | 2
  /** Echoed: the requirement of x402, the parameters of an MPP challenge. */
  requirement: Record<string, unknown>
  resource?: unknown
  extensions?: unknown
  scheme: string
  /** The name as offered: CAIP-2, or a version 1 name. */
  network: string
  /** CAIP-2 where the registry knows the network. */
  chain: string | undefined
  amountAtomic: bigint
  asset: string
  payTo: string
  maxTimeoutSeconds: number
  /** Unix seconds at which the challenge itself ends; only in MPP. */
  expiresAtSeconds?: number
  extra: Record<string, unknown>
}

/** What is signed for an offer. */
export function methodOf({ protocol, scheme, extra }: Offer): TransferMethod {
  const isPermit = scheme === 'upto' || extra['assetTransferMethod'] === 'permit2'
  return protocol === 'x402' && isPermit ? 'permit2' : 'eip3009'
}

/** An offer that is not paid, and why; what it asks for in its own words, so that a person can see it. */
export type UnpayableOffer = {
  protocol: string
  amount?: string
  reason: string
  untrusted: NamedWords[]
}

/** Below this a signature would expire before a merchant can settle it. */
export const timeoutSecondsMin = 10
