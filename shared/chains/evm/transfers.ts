/**
 * Reads the transfers of a chain's tokens, a range of blocks at a time. A range counts as read only if the
 * same round trip shows that the node has its last block: a node that lags would answer that nothing
 * happened there. In final blocks a quorum of endpoints must agree.
 */
import * as z from 'zod'
import type { Address, Chain, Token } from '../chain.ts'
import { type Hex, quantitySchema, sameHex } from '../hex.ts'
import { tokenByAddress } from '../registry.ts'
import { type Agreed, findAgreed } from './agreement.ts'
import {
  isFound,
  type RpcAnswer,
  type RpcCall,
  readRpcAnswer,
  type Unavailable,
  unavailable,
} from './rpc/endpoints.ts'
import {
  type PlacedLog,
  placedLogs,
  readTransfer,
  transferTopic,
  useTopic,
  wordOf,
} from './rpc/logs.ts'
import type { ChainWorld, Rpc } from './rpc/rpc.ts'

/** A Transfer log of a token that the registry lists. */
export type Transfer = {
  token: Token
  from: Address
  to: Address
  value: bigint
  /** Nonce of the EIP-3009 authorization that moved it; null if there is none. */
  authorizationNonce: Hex | null
  transactionHash: Hex
  logIndex: number
  blockNumber: number
  blockHash: Hex
}

/** Range of blocks, both ends included. */
export type Range = { from: number; to: number }

const timeoutMilliseconds = 5_000
/** Room for about 7,000 logs. An edge function must hold several times this in memory. */
const responseBytesMax = 4_194_304
/** Limit for a single block: it cannot be split, and anybody can fill one with transfers of zero. */
const responseBytesMaxOfBlock = 4 * responseBytesMax

const blockSchema = z.object({ number: quantitySchema })

/**
 * Returns the transfers to or from these wallets in these blocks, or all transfers if `wallets` is null.
 * They are in chain order, so that the answers of two endpoints can be compared.
 */
export async function readTransfers(
  rpc: Rpc,
  chain: Chain,
  range: Range,
  wallets: readonly Address[] | null,
): Promise<{ transfers: Transfer[] } | Unavailable> {
  // A filter without alternatives would match everything.
  if (wallets?.length === 0) return { transfers: [] }
  const filters = topicsOf(wallets).map((topics) => logsCall(chain, range, topics))
  const calls = [...filters, blockCall(hexOfBlock(range.to))]
  const isOne = range.from === range.to
  const bytesMax = isOne ? responseBytesMaxOfBlock : responseBytesMax
  const isEnough = (answers: readonly RpcAnswer[]) => answers.every((answer) => isFound([answer]))
  const limits = { timeoutMilliseconds, responseBytesMax: bytesMax, isEnough }
  const answers = await rpc.batch(calls, limits)
  const last = readRpcAnswer(answers.at(-1), blockSchema)
  if ('status' in last) return last
  const logs: PlacedLog[] = []
  for (const answer of answers.slice(0, -1)) {
    const read = readRpcAnswer(answer, placedLogs)
    if ('status' in read) return read
    for (const log of read.value) logs.push(log)
  }
  if (logs.some(({ blockNumber: at }) => at < range.from || at > range.to)) {
    return unavailable('a log of a block that was not asked for')
  }
  return { transfers: describeAll(chain, logs) }
}

/** Returns the transfers that a quorum reads alike, including uses of authorizations and absences. */
export function readAgreedTransfers(
  world: ChainWorld,
  chain: Chain,
  range: Range,
  wallets: readonly Address[] | null,
): Promise<Agreed<{ transfers: Transfer[] }>> {
  return findAgreed(world, chain, (rpc) => readTransfers(rpc, chain, range, wallets))
}

function blockCall(tagOrHex: string): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [tagOrHex, false] }
}

/** Returns topics for transfers to the wallets, and for transfers and authorization uses from them. */
function topicsOf(wallets: readonly Address[] | null) {
  const outgoing = [transferTopic, useTopic]
  if (wallets === null) return [[outgoing]]
  const words = wallets.map(wordOf)
  return [
    [transferTopic, null, words],
    [outgoing, words],
  ]
}

function logsCall(chain: Chain, range: Range, topics: unknown): RpcCall {
  const address = chain.tokens.map((token) => token.address)
  const filter = {
    address,
    fromBlock: hexOfBlock(range.from),
    toBlock: hexOfBlock(range.to),
    topics,
  }
  return { method: 'eth_getLogs', params: [filter] }
}

function hexOfBlock(block: number): Hex {
  return `0x${block.toString(16)}`
}

/** Describes each transfer once: both filters return one between two wallets of the service. */
function describeAll(chain: Chain, logs: readonly PlacedLog[]): Transfer[] {
  const uses = new Map(logs.filter(isUse).map((log) => [logKeyOf(log, 1n), log]))
  const transfers = new Map(logs.filter((log) => !isUse(log)).map((log) => [logKeyOf(log), log]))
  return [...transfers]
    .flatMap(([place, log]) => describeTransfer(chain, log, uses.get(place)))
    .toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}

function isUse({ topics }: PlacedLog): boolean {
  return topics[0] === useTopic
}

function logKeyOf({ blockHash, logIndex }: PlacedLog, after = 0n): string {
  return `${blockHash} ${logIndex + after}`
}

/** Describes a log. `before` is the log directly before it, if that uses an authorization (EIP-3009). */
function describeTransfer(chain: Chain, log: PlacedLog, before: PlacedLog | undefined): Transfer[] {
  const token = tokenByAddress(chain, log.address)
  const transfer = readTransfer(log)
  if (!token || !transfer) return []
  const { transactionHash, blockHash } = log
  const place = { logIndex: Number(log.logIndex), blockNumber: Number(log.blockNumber) }
  const isOfUse =
    before?.transactionHash === transactionHash &&
    sameHex(before.address, log.address) &&
    before.topics[1] === log.topics[1]
  const authorizationNonce = (isOfUse ? before.topics[2] : undefined) ?? null
  return [{ token, ...transfer, authorizationNonce, transactionHash, blockHash, ...place }]
}
