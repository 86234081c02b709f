/**
 * Whether several endpoints show a transfer that one of them told of. An account is frozen by it, so
 * of several endpoints enough have to say so, each from its own receipts.
 */
import { encodeEventTopics } from 'viem/utils'
import * as z from 'zod'
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import { isAgreed } from './agreement.ts'
import { readAnswer } from './answer.ts'
import { logSchema } from './log-ranges.ts'
import { readTransfer, sameHex } from './logs.ts'
import type { ChainWorld, Rpc } from './rpc.ts'

/** A transfer at its place in the chain. */
export type PlacedTransfer = {
  token: Token
  from: Address
  to: Address
  value: bigint
  transactionHash: Hex
  logIndex: number
  blockHash: Hex
}

/** Asks every endpoint for the block's logs. False also while too few of them answer. */
export function isTransferAgreed(
  world: ChainWorld,
  chain: Chain,
  transfer: PlacedTransfer,
): Promise<boolean> {
  return isAgreed(world, chain, (rpc) => showsTransfer(rpc, transfer))
}

const timeoutMilliseconds = 5_000
/** As much as whoever read the block took: others may have put transfers of nothing beside it. */
const responseBytesMax = 16_777_216
const [transferTopic] = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer' })

async function showsTransfer(rpc: Rpc, transfer: PlacedTransfer): Promise<boolean> {
  const { token, from, to, value, transactionHash, logIndex, blockHash } = transfer
  const topics = [transferTopic, wordOf(from), wordOf(to)]
  const limits = { timeoutMilliseconds, responseBytesMax }
  const filter = { blockHash, address: token.address, topics }
  const read = readAnswer(await rpc.request('eth_getLogs', [filter], limits), z.array(logSchema))
  if (!('value' in read)) return false
  const log = read.value.find((one) => one.logIndex === BigInt(logIndex))
  const isThere = log !== undefined && sameHex(log.transactionHash, transactionHash)
  return isThere && readTransfer(log)?.value === value
}

function wordOf(address: Address): Hex {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}
