/**
 * Logs of a range of blocks, from nodes that refuse long ranges or long answers: what is refused is
 * halved, and so many requests are made at most. What was not read then is not known, never empty.
 */
import * as z from 'zod'
import type { Hex } from '../hex.ts'
import { hexOf, hexSchema, positionSchema, wordSchema } from '../hex.ts'
import { listOf } from '../list.ts'
import type { RpcAnswer, Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import type { Rpc, RpcLimits } from './rpc.ts'

/** Whose logs, with which topics. */
export type LogFilter = { address: Hex; topics: readonly unknown[] }
/** Blocks from one to another, both included. */
export type BlockRange = { from: bigint; to: bigint }

/** One event log as a node answers it. */
export const logSchema = z.object({
  address: hexSchema,
  topics: listOf(wordSchema, 4),
  data: hexSchema,
  logIndex: positionSchema,
  transactionHash: wordSchema,
  blockNumber: positionSchema,
})

/** A log that passed `logSchema`. */
export type Log = z.output<typeof logSchema>

const placedLog = logSchema.extend({ blockHash: wordSchema })
/** A log with the block that it stands in. */
export type PlacedLog = z.output<typeof placedLog>

/** More than 16 MB of logs hold. */
const logsMax = 40_000
/** An answer to eth_getLogs. */
export const placedLogs = listOf(placedLog, logsMax)

// Hosted nodes commonly refuse eth_getLogs over more than 10,000 blocks.
const searchBlocksMax = 9_000n
const requestsMax = 12
/** About 7,000 logs: one block may be full of what somebody wrote to hide a log in. */
const responseBytesMax = 4_194_304

/**
 * Where a log is looked for whose signature was good for minutes: from the latest block when it was
 * signed. Where that is unknown, or no block that the chain has, the last ones are searched.
 */
export function searchedRange(latest: bigint, since?: bigint): BlockRange {
  const oldest = latest > searchBlocksMax ? latest - searchBlocksMax : 0n
  if (since === undefined || since > latest) return { from: oldest, to: latest }
  const end = since + searchBlocksMax
  return { from: since, to: end < latest ? end : latest }
}

/** All logs of the range, in their order. */
export async function readLogs(
  rpc: Rpc,
  filter: LogFilter,
  range: BlockRange,
  limits: RpcLimits = {},
): Promise<{ logs: PlacedLog[] } | Unavailable> {
  const logs: PlacedLog[] = []
  const open = [range]
  for (let request = 0; request < requestsMax; request += 1) {
    const next = open.pop()
    if (!next) return { logs }
    const asked = { ...filter, fromBlock: hexOf(next.from), toBlock: hexOf(next.to) }
    const answer = await rpc.request('eth_getLogs', [asked], { responseBytesMax, ...limits })
    const read = readAnswer(answer, placedLogs)
    if ('value' in read) for (const log of read.value) logs.push(log)
    // A shorter range makes no sense of an answer that has none.
    else if ('result' in answer || next.from === next.to) return read
    else open.push(...halves(next))
  }
  return open.length === 0 ? { logs } : unavailable('the logs take too many requests')
}

/** Whether an answer to eth_getLogs has any: a node that lags has none yet of what another one saw. */
export function hasLogs([answer]: readonly RpcAnswer[]): boolean {
  const read = readAnswer(answer, placedLogs)
  return 'value' in read && read.value.length > 0
}

/** The earlier one last, since what is taken next is the last. */
function halves({ from, to }: BlockRange): BlockRange[] {
  const middle = (from + to) / 2n
  return [
    { from: middle + 1n, to },
    { from, to: middle },
  ]
}
