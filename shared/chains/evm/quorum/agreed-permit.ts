/**
 * Determines the outcome of a Permit2 permit from several endpoints. Permit2 writes no log, so each
 * endpoint shows by its historical state in which block the nonce was spent, and by the token's logs what
 * moved there. An ambiguous use counts with the full amount. A smaller amount counts only if a quorum shows
 * the same.
 */

import type { PermitQuestion } from '../permit2/permit2.ts'
import { nonceState, readBitmap } from '../permit2/permit2.ts'
import type { PermitUse, PlacedUse } from '../permit2/permit2-block.ts'
import {
  evidenceOf,
  findAlone,
  readBlockEvidence,
  readPayeeTransfers,
} from '../permit2/permit2-block.ts'
import type { Unavailable } from '../rpc/answer.ts'
import { unavailable } from '../rpc/answer.ts'
import { searchedRange } from '../rpc/log-ranges.ts'
import type { ChainWorld, Rpc } from '../rpc/rpc.ts'
import type { UseEvidence } from '../settlement.ts'
import { blockPositionOf, parseHeadHeights } from '../settlement.ts'
import type { AgreedOutcome, ReportedOutcome, Views } from './agreed-use.ts'
import { agreeOnUse } from './agreed-use.ts'
import { isQuorum, isUncontradicted } from './enough.ts'
import { findSpendingBlock } from './spending-block.ts'
import { isUseFinal } from './unused.ts'

/**
 * The time window of a permit: from `since`, the latest block at signing time if known, until `endSeconds`.
 * `expected` is the block in which its use was last seen.
 */
export type PermitTimes = { since?: bigint | undefined; endSeconds: bigint; expected?: bigint }

/** Asks each endpoint separately and combines the answers. */
export function agreeOnPermit(
  world: ChainWorld,
  question: PermitQuestion,
  times: PermitTimes,
): Promise<AgreedOutcome | Unavailable> {
  const { chain, permit } = question
  const ask = (rpc: Rpc) => findPermit(rpc, question, times)
  return agreeOnUse(world, chain, ask, (views) => combineEvidence(permit, views))
}

/** Blocks by which a use may precede its signing, as after a cut of the chain or with a node ahead. */
const cutBlocksMax = 4096n

/**
 * Returns what one endpoint shows. The use is final if historical state places it in a final block. Without
 * such state, it is final once no later block could have spent the permit.
 */
export async function findPermit(
  rpc: Rpc,
  question: PermitQuestion,
  times: PermitTimes,
): Promise<ReportedOutcome> {
  const seen = await readBitmap(rpc, question)
  if (seen.status !== 'spent') return seen
  const { latest, heads, isFinal, finalSeconds } = seen
  const { since, endSeconds } = times
  const placed = await placeUse(rpc, question, latest, times)
  if (!placed) return { status: 'untraced', latest, isFinal, finalSeconds }
  const { blockNumber: number, blockHash: hash, isByState, shown } = placed
  if (since !== undefined && number + cutBlocksMax < since) {
    return unavailable('used before it was signed')
  }
  const place = blockPositionOf({ number, hash }, parseHeadHeights(heads))
  const isCertain = isByState || isUseFinal(seen, endSeconds)
  const isFinalHere = place.finality === 'finalized' && isCertain
  return { status: 'used', ...place, mark: `${number} ${hash}`, isFinal: isFinalHere, shown }
}

async function placeUse(
  rpc: Rpc,
  { chain, token, permit }: PermitQuestion,
  latest: bigint,
  { since, expected }: PermitTimes,
): Promise<PlacedUse | undefined> {
  const block = await findSpendingBlock(rpc, chain, nonceState(permit), latest, expected)
  if (block !== undefined) return readBlockEvidence(rpc, token, permit, block)
  const read = await readPayeeTransfers(rpc, token, permit, searchedRange(latest, since))
  return 'moved' in read ? findAlone(permit, read.moved) : undefined
}

/**
 * Combines the views of all endpoints that show the use. A log is booked if all of them name it, or a quorum;
 * a log with less than the signed amount is booked only if a quorum names it. Otherwise only the transaction is
 * booked, if all of them name the same, and the amount counts in full.
 */
function combineEvidence(permit: PermitUse, views: Views): UseEvidence {
  const isTaken = (one: UseEvidence) => {
    const opinions = views.map(({ operator, shown }) => {
      return { operator, says: shown && isAlike(shown, one) }
    })
    const votes = opinions.map(({ operator, says }) => ({ operator, agrees: says === true }))
    const isLess = one.takenAtomic !== null && one.takenAtomic < permit.amountAtomic
    return isLess ? isQuorum(votes) : isUncontradicted(opinions)
  }
  const all = views.flatMap(({ shown }) => shown ?? [])
  const taken = all.find((one) => one.logs.length > 0 && isTaken(one))
  const [hash = null, ...others] = new Set(all.map((one) => one.transactionHash))
  const transactionHash = others.length === 0 ? hash : null
  return taken ?? { ...evidenceOf(permit, []), transactionHash }
}

function isAlike(one: UseEvidence, other: UseEvidence): boolean {
  return textOf(one) === textOf(other)
}

function textOf({ transactionHash, logs, takenAtomic }: UseEvidence): string {
  const parts = logs.map((log) => [log.transactionHash, log.logIndex])
  return JSON.stringify([transactionHash, parts, String(takenAtomic)])
}
