/**
 * One way to pay, as read from an untrusted server in any protocol. Parts that are echoed in the payment
 * are kept unchanged, because a server compares the echo with what it offered.
 */
import type { NamedWords } from '../text/untrusted.ts'

/** Kind of signature: an authorization of the token itself, or a Permit2 permit. */
export type TransferMethod = 'eip3009' | 'permit2'

/** An offer that is read and not yet judged. */
export type Offer = {
  protocol: 'x402' | 'mpp'
  /** Version of x402. The Payment scheme has none and counts as 1. */
  version: 1 | 2
  /** Echoed part: the requirement of x402, or the parameters of an MPP challenge. */
  requirement: Record<string, unknown>
  resource?: unknown
  extensions?: unknown
  scheme: string
  /** Network name as offered: CAIP-2, or a version 1 name. */
  network: string
  /** CAIP-2 id, if the registry knows the network. */
  chain: string | undefined
  amountAtomic: bigint
  asset: string
  payTo: string
  maxTimeoutSeconds: number
  /** Unix seconds at which the challenge itself expires; only in MPP. */
  expiresAtSeconds?: number
  extra: Record<string, unknown>
}

/** Returns the kind of signature that an offer needs. */
export function methodOf({ protocol, scheme, extra }: Offer): TransferMethod {
  const isPermit = scheme === 'upto' || extra['assetTransferMethod'] === 'permit2'
  return protocol === 'x402' && isPermit ? 'permit2' : 'eip3009'
}

/** An offer that is not paid, with the reason, and its own terms for a person to read. */
export type UnpayableOffer = {
  protocol: string
  amount?: string
  reason: string
  untrusted: NamedWords[]
}

/** Shortest validity in seconds. With less, a signature would expire before a merchant can settle it. */
export const timeoutSecondsMin = 10
