/**
 * Interface of custody for other functions. They pass a payment id and the caller's credential, never a
 * digest or a transaction. Custody loads what the ledger authorized itself and signs exactly that. It also
 * opens an account, with a wallet, for the holder of a registration link.
 */
import type { ErrorCode } from '../contract/errors.ts'
import type { ConsentLevel } from '../policy/facts.ts'

/** Fees in decimal: wei per gas, and the most wei that a rollup charges for the bytes of one call. */
export type RelayFees = { maxFeePerGas: string; maxPriorityFeePerGas: string; dataFeeWei: string }

/** Relayer that can pay for a transaction, with the number of its transactions that the chain counts. */
export type GasPayerSeen = { address: string; mined_nonce: number }

/** Decision that the caller took from facts of a certain version; SQL commits or refuses it. */
export type AuthorizeRequest = {
  /** HMAC of the caller's token, as every exposed SQL function takes it. */
  credential: string
  paymentId: string
  consentLevel: ConsentLevel
  /** Mandate that carries it, at the level of mandates. */
  mandateId?: string | undefined
  /** Version of the facts that the decision was taken from (compare and swap). */
  factsVersion: number
  /** Atomic units of the token that the wallet held at the last look. */
  fundsAtomic: string
  /** Newest block, if enough endpoints reported it. */
  seenBlock?: number | undefined
  /** Unix seconds between which the signature is valid; without them, as the terms of a purchase say. */
  validAfter?: number | undefined
  validBefore?: number | undefined
  /** Wallet's next EIP-2612 nonce, if a Permit2 permit needs an allowance beside it. */
  allowanceNonce?: string | undefined
  /** True if the decision knew that an equal payment was sent a moment ago. */
  isRepeat?: boolean | undefined
  /** Payer of the transaction's gas, and its price, for a transfer. */
  relay?:
    | {
        chainId: number
        fees: RelayFees
        gasFrom: 'relayer' | 'wallet'
        walletNonce: number
        /** Wei that the wallet holds for gas. */
        walletWei: string
        gasPayers: GasPayerSeen[]
      }
    | undefined
}

/** Confirmation of a purchase by the agent that was asked for it, from the same device. */
export type ConfirmRequest = { credential: string; paymentId: string; device: string }

/** Custody's answer to a request; nothing was signed unless it is `signed`. */
export type AuthorizeAnswer =
  /**
   * `first` is true for the one call that owns the sending of this payment for now. `queued` is true if
   * signed calls wait and a relayer is free, so that somebody has to ask for `relay`.
   */
  | {
      outcome: 'signed'
      first: boolean
      /** Block from which on the chain may show it used; null if none was known. */
      authorizedBlock: number | null
      authorization?: SignedPayment
      transaction?: SignedTransaction
      queued: boolean
      /** Payment as the database tells it, in the answer to `confirm`. */
      row?: unknown
    }
  /** The facts changed: read them again and decide again. */
  | { outcome: 'stale' }
  | { outcome: 'insufficient_funds' }
  /** Relayers carry no more for the account today, or not this payment. */
  | { outcome: 'gas_budget' }
  /** The wallet cannot pay for this transaction beside those that it has open. */
  | { outcome: 'insufficient_gas' }
  /** The wallet has as many transactions in flight as it may. */
  | { outcome: 'gas_payer_full' }
  | { outcome: 'closed' | 'expired' | 'not_found' }
  | {
      outcome: 'refused'
      code: ErrorCode
    }

/** Request for the next transaction of what is queued on a chain. */
export type RelayRequest = RelayFees & { chainId: number; gasPayers: GasPayerSeen[] }

/** Transaction to broadcast, unless nothing waited; `queued` says whether to ask again. */
export type RelayAnswer = { transaction?: SignedTransaction; queued: boolean }

/** Request to replace the latest transaction of an open slot, at these fees as far as the budget allows. */
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
 * Authorization, or a Permit2 permit in the same fields: its deadline is `validBefore`, and an EIP-2612
 * permit that lets Permit2 take the amount once may accompany it.
 */
export type SignedPayment = SignedAuthorization & {
  allowance?: { nonce: string; signature: string }
}

/** Raw EIP-1559 transaction, stored before it is returned. */
export type SignedTransaction = { hash: `0x${string}`; raw: `0x${string}` }

/** Account to open. Secrets come as digests, the password as a hash. */
export type OpenAccountRequest = {
  /** SHA-256 of the registration link. */
  linkDigest: string
  /** Alias in canonical form. */
  alias: string
  passwordHash: string
  apiKey: { digest: string; shown: string }
  /** Browser session that begins with the account. */
  session?:
    | { digest: string; user_agent: string; client: string; browser: string | null }
    | undefined
}

/** Outcome of a request. Every outcome but `opened` leaves the link as it was. */
export type OpenAccountAnswer =
  | { outcome: 'opened'; account: string; address: string }
  | { outcome: 'link_closed' | 'alias_taken' | 'address_known' }

/** Interface that a service binding to custody offers, the same in process and between functions. */
export type CustodyPort = {
  authorize(request: AuthorizeRequest): Promise<AuthorizeAnswer>
  /** `stale` unless the purchase waits for this confirmation alone and its funds were seen a moment ago. */
  confirm(request: ConfirmRequest): Promise<AuthorizeAnswer>
  relay(request: RelayRequest): Promise<RelayAnswer>
  /** Undefined if the slot is over, was replaced often enough or meanwhile, or cannot be paid for. */
  replace(request: ReplaceRequest): Promise<SignedTransaction | undefined>
  openAccount(request: OpenAccountRequest): Promise<OpenAccountAnswer>
  /** Throws unless custody answers and has its root keys. */
  ready(): Promise<void>
}
