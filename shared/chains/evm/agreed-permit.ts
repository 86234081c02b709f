/**
 * What became of a Permit2 permit, as the endpoints of a chain show it. Permit2 writes no log, so each of them
 * tells by its own states in which block the nonce was spent, and by the token's logs what moved there. What
 * cannot be told apart counts in full, and less only where enough of them show the same.
 */
import type { AgreedFate, ToldFate, Views } from './agreed-use.ts'
import { agreeOnUse } from './agreed-use.ts'
import type { Unavailable } from './answer.ts'
import { unavailable } from './answer.ts'
import { isEnough, isUncontradicted } from './enough.ts'
import { searchedRange } from './log-ranges.ts'
import type { PermitQuestion } from './permit2.ts'
import { nonceState, readBitmap } from './permit2.ts'
import type { PermitUse, PlacedUse } from './permit2-block.ts'
import { findAlone, readMoved, showBlock, showUse } from './permit2-block.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import type { Shown } from './settlement.ts'
import { placeOf, readHeads } from './settlement.ts'
import { findSpendingBlock } from './spending-block.ts'
import { isUseFinal } from './unused.ts'

/**
 * When a permit was good: from the latest block when it was signed, where that is known, until `endSeconds`;
 * `expected` is the block that it was last seen in.
 */
export type PermitTimes = { since?: bigint | undefined; endSeconds: bigint; expected?: bigint }

/** Asks each endpoint by itself. */
export function agreeOnPermit(
  world: ChainWorld,
  question: PermitQuestion,
  times: PermitTimes,
): Promise<AgreedFate | Unavailable> {
  const { chain, permit } = question
  const ask = (rpc: Rpc) => findPermit(rpc, question, times)
  return agreeOnUse(world, chain, ask, (views) => showAgreed(permit, views))
}

/** A chain that was cut back, or a node that was ahead, has its use so many blocks before it was signed. */
const cutBlocksMax = 64n

/**
 * What one endpoint tells. It knows the use to be final by states alone, or where it has none of then once
 * nothing could use the permit any more.
 */
export async function findPermit(
  rpc: Rpc,
  question: PermitQuestion,
  times: PermitTimes,
): Promise<ToldFate> {
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
  const place = placeOf({ number, hash }, readHeads(heads))
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
  if (block !== undefined) return showBlock(rpc, token, permit, block)
  const read = await readMoved(rpc, token, permit, searchedRange(latest, since))
  return 'moved' in read ? findAlone(rpc, permit, read.moved) : undefined
}

/**
 * What they show together. A log is taken where nobody names another one, and one of less than was signed
 * for where enough of them name it; else the transaction alone, where nobody names another one.
 */
function showAgreed(permit: PermitUse, views: Views): Shown {
  const isTaken = (one: Shown) => {
    const opinions = views.map(({ operator, shown }) => {
      const says = shown && shown.logs.length > 0 ? isAlike(shown, one) : undefined
      return { operator, says }
    })
    const votes = opinions.map(({ operator, says }) => ({ operator, agrees: says === true }))
    const isLess = one.takenAtomic !== null && one.takenAtomic < permit.amountAtomic
    return isLess ? isEnough(votes) : isUncontradicted(opinions)
  }
  const all = views.flatMap(({ shown }) => shown ?? [])
  const taken = all.find((one) => one.logs.length > 0 && isTaken(one))
  const [hash = null, ...others] = new Set(all.flatMap((one) => one.transactionHash ?? []))
  const transactionHash = others.length === 0 ? hash : null
  return taken ?? { ...showUse(permit, []), transactionHash }
}

function isAlike(one: Shown, other: Shown): boolean {
  return textOf(one) === textOf(other)
}

function textOf({ transactionHash, logs, takenAtomic }: Shown): string {
  const parts = logs.map((log) => [log.transactionHash, log.logIndex])
  return JSON.stringify([transactionHash, parts, String(takenAtomic)])
}
