/**
 * Changes that a lying endpoint makes to requests and answers. It invents no receipts and no logs: it
 * reports another time, other fees, or nothing of what happened.
 */
import * as z from 'zod'
import type { Lie } from './actions.ts'

export type Call = { id?: unknown; method: string; params: unknown[] }
export type Said = { id?: unknown; result?: unknown }

const tenDaysSeconds = 864_000
const feesTimes = 100n
/** The current time, and a block before any payment. */
export type Times = { now: number; past: number }

const quantity = z.string().regex(/^0x[0-9a-f]+$/)
const block = z.looseObject({ timestamp: quantity })
const history = z.looseObject({
  baseFeePerGas: z.array(quantity),
  reward: z.array(z.array(quantity)).nullish(),
})

/** Returns the request that is sent to the node instead of this one. */
export function asked(call: Call, lie: Lie, { now, past }: Times): Call {
  if (call.method !== 'eth_call') return call
  const [what, tag] = call.params
  const longAgo = toHex(BigInt(past))
  const ahead = { time: toHex(BigInt(now + tenDaysSeconds)) }
  if (lie === 'time') return { ...call, params: [what, tag, {}, ahead] }
  if (lie === 'absence') return { ...call, params: [what, longAgo] }
  if (lie === 'late absence') return { ...call, params: [what, longAgo, {}, ahead] }
  return call
}

/** Returns the answer that is given instead of the node's. */
export function answered({ method }: Call, result: unknown, lie: Lie): unknown {
  const isSilent = lie === 'absence' || lie === 'late absence'
  if (lie === 'time' || lie === 'late absence') {
    if (method === 'eth_getBlockByNumber') return later(result)
  }
  if ((lie === 'logs' || isSilent) && method === 'eth_getLogs') return []
  if (isSilent && method === 'eth_getTransactionReceipt') return null
  if (lie === 'fees' && method === 'eth_feeHistory') return dearer(result)
  if (lie === 'fees' && method === 'eth_gasPrice') return times(quantity.parse(result))
  return result
}

function later(result: unknown): unknown {
  const read = block.safeParse(result)
  if (!read.success) return result
  const timestamp = toHex(BigInt(read.data.timestamp) + BigInt(tenDaysSeconds))
  return { ...read.data, timestamp }
}

function dearer(result: unknown): unknown {
  const read = history.parse(result)
  const reward = read.reward?.map((row) => row.map(times))
  return { ...read, baseFeePerGas: read.baseFeePerGas.map(times), ...(reward ? { reward } : {}) }
}

function times(wei: string): string {
  return toHex(BigInt(wei) * feesTimes)
}

function toHex(value: bigint): string {
  return `0x${value.toString(16)}`
}
