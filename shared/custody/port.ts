/**
 * What other functions may ask of custody: a payment id and the caller's credential, never a digest
 * or a transaction. Custody loads the authorized payment itself and signs exactly that.
 */
import type { ErrorCode } from '../contract/errors.ts'
import type { ConsentLevel } from '../policy/facts.ts'

/** A decision that the caller took from facts of a certain version; SQL commits or refuses it. */
export type AuthorizeRequest = {
  /** HMAC of the caller's token, as every exposed SQL function takes it. */
  credential: string
  paymentId: string
  consentLevel: ConsentLevel
  /** Version of the facts that the decision was taken from (compare and swap). */
  factsVersion: number
  /** Atomic units of the token that the wallet held when last looked at. */
  fundsAtomic: string
  /** The block that this was seen at. */
  seenBlock: number
  /** Unix seconds between which the signature is good. */
  validAfter: number
  validBefore: number
  /** For a transfer: how its transaction is to be paid for on chain. */
  relay?:
    | {
        maxFeePerGas: string
        maxPriorityFeePerGas: string
        gasFrom: 'relayer' | 'wallet'
        walletNonce: number
      }
    | undefined
}

/** What custody says to a request; in all cases but `signed` nothing was signed. */
export type AuthorizeAnswer =
  /** `first` is true for the one call that owns the sending of this payment for now. */
  | {
      outcome: 'signed'
      first: boolean
      authorization?: SignedAuthorization
      transaction?: SignedTransaction
    }
  /** The facts moved on: read them again and decide again. */
  | { outcome: 'stale' }
  | { outcome: 'insufficient_funds' }
  | { outcome: 'closed' | 'expired' | 'not_found' | 'no_relayer' }
  | {
      outcome: 'refused'
      code: ErrorCode
    }

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

/** A raw EIP-1559 transaction, stored before this is answered. */
export type SignedTransaction = { hash: `0x${string}`; raw: `0x${string}` }

/** A payment whose authorization is to be made unusable on chain. */
export type CancelRequest = Pick<AuthorizeRequest, 'credential' | 'paymentId'>

/** `queued`: the cancellation is signed and kept for a relayer. `closed`: there is nothing to cancel. */
export type CancelAnswer = { outcome: 'queued' | 'closed' }

/** What a service binding to custody offers: the same in process and between functions. */
export type CustodyPort = {
  authorize(request: AuthorizeRequest): Promise<AuthorizeAnswer>
  cancel(request: CancelRequest): Promise<CancelAnswer>
}
