/**
 * Changes calls and answers as an endpoint would that is behind or wrong. A lagging one answers as its node
 * would have some blocks ago, and knows nothing of later blocks.
 */
import * as z from 'zod'
import { callRpc } from '../rpc.ts'
import type { Lie } from './plan.ts'

/** Schema of a JSON-RPC call. */
export const callSchema = z.looseObject({
  id: z.unknown(),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})
/** A JSON-RPC call. */
export type Call = z.output<typeof callSchema>

/** Schema of a JSON-RPC response. */
export const responseSchema = z.looseObject({ id: z.unknown(), result: z.unknown().optional() })
/** A JSON-RPC response. */
export type Response = z.output<typeof responseSchema>

/** Changes a call on its way to the node, and the answer on its way back. */
export type Liar = { ask(call: Call): Call; answer(method: string, result: unknown): unknown }

/** Returns what changes calls and answers for one lie; a lag counts from the node's present blocks. */
export async function liarFor(lie: Lie, nodeUrl: string): Promise<Liar> {
  if (lie.kind === 'lag') return lagging(await headsAgo(nodeUrl, lie.blocks))
  const method = lie.kind === 'miscount' ? 'eth_getTransactionCount' : 'eth_getTransactionReceipt'
  const lied = (result: unknown) =>
    lie.kind === 'miscount' && typeof result === 'string'
      ? hexOfQuantity(Math.max(0, Number(result) + lie.by))
      : null
  return {
    ask: (call) => call,
    answer: (asked, result) => (asked === method ? lied(result) : result),
  }
}

type Heads = Readonly<Record<string, number>>

const tags = ['latest', 'safe', 'finalized'] as const
const headSchema = z.object({ number: z.string() })

async function headsAgo(nodeUrl: string, blocks: number): Promise<Heads> {
  const heads = await callRpc(
    nodeUrl,
    tags.map((tag) => ['eth_getBlockByNumber', tag, false] as const),
  )
  const numbers = heads.map((head) => Math.max(0, Number(headSchema.parse(head).number) - blocks))
  const [latest = 0, safe = 0, finalized = 0] = numbers
  return { latest, safe, finalized, pending: latest }
}

function lagging(heads: Heads): Liar {
  const head = heads['latest'] ?? 0
  return {
    ask: (call) => ({ ...call, params: call.params.map((param) => asOf(param, heads)) }),
    answer: (method, result) =>
      method === 'eth_blockNumber' ? hexOfQuantity(head) : before(result, head),
  }
}

/** Replaces tags by the block numbers that they had, also inside a filter of logs. */
function asOf(param: unknown, heads: Heads): unknown {
  if (typeof param === 'string') {
    const head = heads[param]
    return head === undefined ? param : hexOfQuantity(head)
  }
  const filter = z.record(z.string(), z.unknown()).safeParse(param)
  if (!filter.success) return param
  const entries = Object.entries(filter.data)
  return Object.fromEntries(entries.map(([name, value]) => [name, asOf(value, heads)]))
}

const placedSchema = z.union([
  z.object({ blockNumber: z.string() }).transform((placed) => placed.blockNumber),
  z.object({ number: z.string() }).transform((block) => block.number),
])

/** Removes blocks, transactions, receipts and logs that came later. */
function before(result: unknown, head: number): unknown {
  const isLater = (one: unknown) => {
    const number = placedSchema.safeParse(one)
    return number.success && Number(number.data) > head
  }
  if (Array.isArray(result)) return result.filter((one) => !isLater(one))
  return isLater(result) ? null : result
}

function hexOfQuantity(quantity: number): string {
  return `0x${quantity.toString(16)}`
}
