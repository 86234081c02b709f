/**
 * What an endpoint that is behind, or wrong, makes of calls and answers. A lagging one answers as its
 * node would have so many blocks ago, and knows nothing of what came later.
 */
import * as z from 'zod'
import { callRpc } from '../rpc.ts'
import type { Lie } from './plan.ts'

export const callSchema = z.looseObject({
  id: z.unknown(),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})
export type Call = z.output<typeof callSchema>

export const responseSchema = z.looseObject({ id: z.unknown(), result: z.unknown().optional() })
export type Response = z.output<typeof responseSchema>

/** Changes a call on its way to the node and the answer on its way back. */
export type Liar = { ask(call: Call): Call; answer(method: string, result: unknown): unknown }

export async function liarFor(lie: Lie, nodeUrl: string): Promise<Liar> {
  if (lie.kind === 'lag') return lagging(await headsAgo(nodeUrl, lie.blocks))
  const method = lie.kind === 'miscount' ? 'eth_getTransactionCount' : 'eth_getTransactionReceipt'
  const lied = (result: unknown) =>
    lie.kind === 'miscount' && typeof result === 'string'
      ? toHex(Math.max(0, Number(result) + lie.by))
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
    answer: (method, result) => (method === 'eth_blockNumber' ? toHex(head) : before(result, head)),
  }
}

/** Tags as the numbers that they had, also inside a filter of logs. */
function asOf(param: unknown, heads: Heads): unknown {
  if (typeof param === 'string') {
    const head = heads[param]
    return head === undefined ? param : toHex(head)
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

/** Without the blocks, transactions, receipts and logs that came later. */
function before(result: unknown, head: number): unknown {
  const isLater = (one: unknown) => {
    const number = placedSchema.safeParse(one)
    return number.success && Number(number.data) > head
  }
  if (Array.isArray(result)) return result.filter((one) => !isLater(one))
  return isLater(result) ? null : result
}

function toHex(quantity: number): string {
  return `0x${quantity.toString(16)}`
}
