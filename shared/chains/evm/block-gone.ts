/** Whether a block or a transaction's place is gone, by enough endpoints that what was read may be taken back. */
import * as z from 'zod'
import type { Address, Chain } from '../chain.ts'
import type { Hex } from '../hex.ts'
import type { Agreed } from './agreement.ts'
import { findAgreed, isAgreed } from './agreement.ts'
import type { RpcAnswer } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import { countCall, readCount } from './counts.ts'
import { isEnough, lagBlocks } from './enough.ts'
import { receiptCalls, replacedBy } from './proof.ts'
import type { ChainWorld } from './rpc.ts'
import { endpointsFor } from './rpc.ts'
import { readHeads } from './settlement.ts'
import { headCalls } from './unused.ts'

/** Whether they show another block at its height. */
export function isBlockGone(
  world: ChainWorld,
  chain: Chain,
  block: { number: number; hash: string },
): Promise<boolean> {
  return isAgreed(world, chain, async (rpc) => (await replacedBy(rpc, block)) === true)
}

/** The same where it also has to be agreed that the block still stands. */
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
 * Whether none of these transactions is on the chain any more, which reaches as far as their block: by
 * enough endpoints, or by one of those that keep up with it.
 */
export async function areTransactionsGone(
  world: ChainWorld,
  chain: Chain,
  hashes: readonly Hex[],
  blockNumber: number,
): Promise<{ byEnough: boolean; byAny: boolean }> {
  const block = BigInt(blockNumber)
  const told = await Promise.all(
    endpointsFor(world, chain).map(async ({ operator, rpc }) => {
      const calls = [...headCalls.slice(0, 1), ...receiptCalls(hashes)]
      const [head, ...answers] = await rpc.batch(calls)
      const [latest] = readHeads(head ? [head] : [])
      if (latest === undefined || !areAbsent(answers)) return { operator, agrees: false, is: false }
      return {
        operator,
        agrees: latest >= block,
        is: latest >= block || latest + lagBlocks < block,
      }
    }),
  )
  return { byEnough: isEnough(told), byAny: told.some(({ is }) => is) }
}

/** Whether none of a place's transactions took it, by endpoints that count one there in a safe block. */
export function isPlaceLost(
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
