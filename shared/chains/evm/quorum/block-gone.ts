/** Decides by a quorum that a block or a transaction is gone, so that what was read from it is undone. */
import * as z from 'zod'
import type { Address, Chain } from '../../chain.ts'
import type { Hex } from '../../hex.ts'
import { receiptCalls, replacedBy } from '../proof.ts'
import type { RpcAnswer } from '../rpc/answer.ts'
import { readAnswer, unavailable } from '../rpc/answer.ts'
import { countCall, readCount } from '../rpc/counts.ts'
import type { ChainWorld } from '../rpc/rpc.ts'
import { endpointsFor } from '../rpc/rpc.ts'
import { parseHeadHeights } from '../settlement.ts'
import type { Agreed } from './agreement.ts'
import { findAgreed, isAgreed } from './agreement.ts'
import { isQuorum, lagBlocks } from './enough.ts'
import { headCalls } from './unused.ts'

/** Returns true if a quorum shows another block at this height. */
export function isBlockGone(
  world: ChainWorld,
  chain: Chain,
  block: { number: number; hash: string },
): Promise<boolean> {
  return isAgreed(world, chain, async (rpc) => (await replacedBy(rpc, block)) === true)
}

/** Returns whether another block stands at this height; here a quorum must confirm the block as well. */
export function readReplaced(
  world: ChainWorld,
  chain: Chain,
  block: { number: number; hash: string },
): Promise<Agreed<{ isReplaced: boolean }>> {
  return findAgreed(world, chain, async (rpc) => {
    const isReplaced = await replacedBy(rpc, block)
    return isReplaced === undefined
      ? unavailable(`no word on block ${block.number}`)
      : { isReplaced }
  })
}

/**
 * Decides whether none of these transactions is on the chain any more. `byEnough`: a quorum that has
 * reached their block shows none of them. `byAny`: one endpoint shows none of them, and it has reached
 * their block or is further behind it than `lagBlocks`.
 */
export async function areTransactionsGone(
  world: ChainWorld,
  chain: Chain,
  hashes: readonly Hex[],
  blockNumber: number,
): Promise<{ byEnough: boolean; byAny: boolean }> {
  const block = BigInt(blockNumber)
  const reports = await Promise.all(
    endpointsFor(world, chain).map(async ({ operator, rpc }) => {
      const calls = [...headCalls.slice(0, 1), ...receiptCalls(hashes)]
      const [head, ...answers] = await rpc.batch(calls)
      const [latest] = parseHeadHeights(head ? [head] : [])
      if (latest === undefined || !areAbsent(answers)) return { operator, agrees: false, is: false }
      return {
        operator,
        agrees: latest >= block,
        is: latest >= block || latest + lagBlocks < block,
      }
    }),
  )
  return { byEnough: isQuorum(reports), byAny: reports.some(({ is }) => is) }
}

/** Returns true if a quorum counts the nonce as used at the safe block and shows no attempt mined. */
export function isNonceTakenByOther(
  world: ChainWorld,
  chain: Chain,
  {
    lane,
    nonce,
    attempts,
  }: { lane: Address; nonce: number; attempts: readonly { tx_hash: Hex }[] },
): Promise<boolean> {
  return isAgreed(world, chain, async (rpc) => {
    const [count, ...answers] = await rpc.batch([
      countCall(lane, 'safe'),
      ...receiptCalls(attempts.map(({ tx_hash }) => tx_hash)),
    ])
    return areAbsent(answers) && (readCount(count) ?? 0) > nonce
  })
}

function areAbsent(receipts: readonly RpcAnswer[]): boolean {
  return receipts.every((answer) => {
    const read = readAnswer(answer, z.unknown())
    return 'value' in read && read.value === null
  })
}
