/** A settlement as a block shows it: what every way of finding one answers, and what is booked of it. */
import * as z from 'zod'
import type { Hex } from '../hex.ts'
import { positionSchema } from '../hex.ts'
import type { RpcAnswer } from './answer.ts'
import { readAnswer } from './answer.ts'

/** Only what the node's own block tags say; a depth in blocks never makes `safe` or `finalized`. */
export type Finality = 'included' | 'safe' | 'finalized'

/** A log that may be the payment's. */
export type Candidate = { transactionHash: Hex; logIndex: number }

/** Where a block stands. `confirmations` is 1 in the latest block. */
export type Place = {
  blockNumber: bigint
  blockHash: Hex
  confirmations: number
  finality: Finality
}

/**
 * What a block shows of a payment. `transactionHash` is null where it is not known which of its
 * transactions it was. `logs` are the logs that it may be, any of which shows its amount; without one
 * it counts in full. `takenAtomic`: what was taken beyond doubt, else null.
 */
export type Shown = {
  transactionHash: Hex | null
  logs: readonly Candidate[]
  takenAtomic: bigint | null
}

/** Where a payment was settled, and what that shows. */
export type Settlement = Place & Shown

/** The ends of a chain by the node's own tags, in the order of `headCalls`. */
export type Heads = (bigint | undefined)[]

const headSchema = z.object({ number: positionSchema })

/** A node that does not know a tag answers an error or null: then nothing is claimed from it. */
export function readHeads(answers: readonly RpcAnswer[]): Heads {
  return answers.map((answer) => {
    const read = readAnswer(answer, headSchema)
    return 'value' in read ? read.value.number : undefined
  })
}

/** Where a block stands between the ends of the chain. */
export function placeOf(
  { number, hash }: { number: bigint; hash: Hex },
  [latest, safe, finalized]: Heads,
): Place {
  const covers = (head: bigint | undefined) => head !== undefined && head >= number
  const finality = covers(finalized) ? 'finalized' : covers(safe) ? 'safe' : 'included'
  // Another backend may answer for the tags and lag behind; the block itself is one confirmation.
  const depth = latest !== undefined && latest > number ? latest - number : 0n
  return { blockNumber: number, blockHash: hash, confirmations: Number(depth) + 1, finality }
}
