/** A settlement as a block shows it: what every way of finding one answers, and what is booked of it. */
import type { Hex } from '../hex.ts'

/** Only what the node's own block tags say; a depth in blocks never makes `safe` or `finalized`. */
export type Finality = 'included' | 'safe' | 'finalized'

/** A log that may be the payment's. */
export type Candidate = { transactionHash: Hex; logIndex: number }

/**
 * Where a payment was settled. `transactionHash` is null where it is not known which of the block's
 * transactions it was. `logs` are the logs that it may be, any of which shows its amount; without one
 * it counts in full. `takenAtomic`: what was taken beyond doubt, else null.
 */
export type Settlement = {
  blockNumber: bigint
  blockHash: Hex
  confirmations: number
  finality: Finality
  transactionHash: Hex | null
  logs: readonly Candidate[]
  takenAtomic: bigint | null
}
