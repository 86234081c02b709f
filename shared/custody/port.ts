/**
 * What other functions may ask of custody: a payment id and the caller's credential, never a digest
 * or a transaction. Custody loads what the ledger authorized itself and signs exactly that. Beside
 * that it opens an account, with a wallet, for who holds a registration link.
 */
import type { ErrorCode } from '../contract/errors.ts'
import type { ConsentLevel } from '../policy/facts.ts'

/** In decimal: wei per gas, and the wei that a rollup charges for the bytes of one call at most. */
export type RelayFees = { maxFeePerGas: string; maxPriorityFeePerGas: string; dataFeeWei: string }

/**
 * A relayer, how many of its transactions the chain counts, and how many more calls it can pay for:
 * transfers leave a reserve of its gas to cancellations.
 */
export type LaneSeen = { address: string; mined_nonce: number; transfers: number; cancels: number }

/** A decision that the caller took from facts of a certain version; SQL commits or refuses it. */
export type AuthorizeRequest = {
  /** HMAC of the caller's token, as every exposed SQL function takes it. */
  credential: string
  paymentId: string
  consentLevel: ConsentLevel
  /** The mandate that carries it, at the level of mandates. */
  mandateId?: string | undefined
  /** Version of the facts that the decision was taken from (compare and swap). */
  factsVersion: number
  /** Atomic units of the token that the wallet held when last looked at. */
  fundsAtomic: string
  /** The newest block, where enough endpoints told it. */
  seenBlock?: number | undefined
  /** Unix seconds between which the signature is good. */
  validAfter: number
  validBefore: number
  /** The wallet's next EIP-2612 nonce, where a Permit2 permit needs an allowance beside it. */
  allowanceNonce?: string | undefined
  /** What gas costs now on the payment's chain: of its transaction, or of its cancellation. */
  gas: RelayFees & { chainId: number }
  /** For a transfer: who pays for its transaction. */
  relay?:
    | {
        gasFrom: 'relayer' | 'wallet'
        walletNonce: number
        /** What the wallet holds for gas. */
        walletWei: string
        lanes: LaneSeen[]
      }
    | undefined
}

/** What custody says to a request; in all cases but `signed` nothing was signed. */
export type AuthorizeAnswer =
  /**
   * `first` is true for the one call that owns the sending of this payment for now; `queued` when
   * signed calls wait and a lane is free, so that somebody has to ask for `relay`.
   */
  | {
      outcome: 'signed'
      first: boolean
      authorization?: SignedPayment
      transaction?: SignedTransaction
      queued: boolean
    }
  /** The facts moved on: read them again and decide again. */
  | { outcome: 'stale' }
  | { outcome: 'insufficient_funds' }
  /** Relayers carry nothing more of the account now, or not this. */
  | { outcome: 'gas_budget' }
  /** The wallet cannot pay for this transaction beside those that it has open. */
  | { outcome: 'insufficient_gas' }
  /** The wallet has as many transactions in flight as it may. */
  | { outcome: 'lane_full' }
  | { outcome: 'closed' | 'expired' | 'not_found' }
  | {
      outcome: 'refused'
      code: ErrorCode
    }

/** Asks for the next transaction of what is queued on a chain. */
export type RelayRequest = RelayFees & { chainId: number; lanes: LaneSeen[] }

/** A transaction to broadcast, unless nothing waited; and whether to ask again. */
export type RelayAnswer = { transaction?: SignedTransaction; queued: boolean }

/** Asks for a transaction in place of the latest of an open slot, at these fees at least. */
export type ReplaceRequest = RelayFees & { slot: number }

/** EIP-3009 TransferWithAuthorization with its signature, as x402 `exact` carries it. */
export type SignedAuthorization = {
  from: string
  to: string
  value: string
  validAfter: string
  validBefore: string
  nonce: string
  signature: string
}

/**
 * An authorization, or a Permit2 permit in the same words: its deadline is `validBefore`, and an
 * EIP-2612 permit that lets Permit2 take the amount once may go with it.
 */
export type SignedPayment = SignedAuthorization & {
  allowance?: { nonce: string; signature: string }
}

/** A raw EIP-1559 transaction, stored before this is answered. */
export type SignedTransaction = { hash: `0x${string}`; raw: `0x${string}` }

/** A payment whose authorization is to be made unusable on chain. */
export type CancelRequest = Pick<AuthorizeRequest, 'paymentId'>

/** `queued`: the cancellation is signed and kept for a relayer. `closed`: there is nothing to cancel. */
export type CancelAnswer = { outcome: 'queued' | 'closed' }

/** An account to open. What is secret about it comes as a digest, or as the hash of a password. */
export type OpenAccountRequest = {
  /** SHA-256 of the registration link. */
  linkDigest: string
  /** In canonical form. */
  alias: string
  passwordHash: string
  apiKey: { digest: string; shown: string }
  /** The browser session that begins with it. */
  session?: { digest: string; userAgent: string; client: string } | undefined
}

/** In all cases but `opened` the link is as good, or as little good, as it was. */
export type OpenAccountAnswer =
  | { outcome: 'opened'; account: string; address: string }
  | { outcome: 'link_closed' | 'alias_taken' | 'address_known' }

/** What a service binding to custody offers: the same in process and between functions. */
export type CustodyPort = {
  authorize(request: AuthorizeRequest): Promise<AuthorizeAnswer>
  relay(request: RelayRequest): Promise<RelayAnswer>
  /** Undefined when the slot is over, was replaced often enough, or by somebody else meanwhile. */
  replace(request: ReplaceRequest): Promise<SignedTransaction | undefined>
  cancel(request: CancelRequest): Promise<CancelAnswer>
  openAccount(request: OpenAccountRequest): Promise<OpenAccountAnswer>
  /** Throws unless it is there with its root keys. */
  ready(): Promise<void>
}
