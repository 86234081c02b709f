/** Whether a block is gone, by enough endpoints that what was read in it may be taken back. */
import * as z from 'zod'
import type { Chain } from '../chain.ts'
import type { Hex } from '../hex.ts'
import type { Agreed } from './agreement.ts'
import { findAgreed, isAgreed } from './agreement.ts'
import { readAnswer, unavailable } from './answer.ts'
import { readHeads, replacedBy } from './proof.ts'
import type { ChainWorld } from './rpc.ts'
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

/** Whether none of these transactions is on the chain any more, which reaches as far as their block. */
export function areTransactionsGone(
  world: ChainWorld,
  chain: Chain,
  hashes: readonly Hex[],
  blockNumber: number,
): Promise<boolean> {
  return isAgreed(world, chain, async (rpc) => {
    const calls = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
    const [head, ...answers] = await rpc.batch([...headCalls.slice(0, 1), ...calls])
    const [latest] = readHeads(head ? [head] : [])
    const isAbsent = answers.every((answer) => {
      const read = readAnswer(answer, z.unknown())
      return 'value' in read && read.value === null
    })
    return isAbsent && latest !== undefined && latest >= BigInt(blockNumber)
  })
}
