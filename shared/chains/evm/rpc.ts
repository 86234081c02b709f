/**
 * JSON-RPC over HTTP to one node: a single call or a batch, each in one round trip. Nothing here
 * throws: a node that is down, slow, too talkative or talks nonsense is `unreachable`, and a call
 * that it answers with an error is `rpc`. It does not retry; the caller knows whether that is safe.
 */
import * as z from 'zod'
import type { World } from '../../world.ts'
import type { Chain } from '../chain.ts'

/** What reading a chain needs of the world. */
export type ChainWorld = Pick<World, 'fetch' | 'deadline'> & {
  config: Pick<World['config'], 'chainRpcUrls'>
}

/** `unreachable`: whether the call took effect is unknown. `rpc`: the node refused it. */
export type RpcFailure =
  | { kind: 'unreachable'; reason: string }
  | { kind: 'rpc'; code: number; message: string }

/** A result as the node sent it, not yet read by any schema. */
export type RpcAnswer = { result: unknown } | { failure: RpcFailure }
/** One call, before it has an id. */
export type RpcCall = { method: string; params: readonly unknown[] }
/** Three seconds and one mebibyte when absent. */
export type RpcLimits = { timeoutMilliseconds?: number; responseBytesMax?: number }

/** A connection to one chain's preferred node. */
export type Rpc = {
  request(method: string, params: readonly unknown[], limits?: RpcLimits): Promise<RpcAnswer>
  /** One HTTP request; answers stand in the order of the calls. */
  batch(calls: readonly RpcCall[], limits?: RpcLimits): Promise<RpcAnswer[]>
}

/** What every read answers when the node gave nothing usable. `log` is for the operator alone. */
export type Unavailable = { status: 'unavailable'; log: string }

const defaultTimeoutMilliseconds = 3_000
const defaultResponseBytesMax = 1_048_576
const messageLengthMax = 300

// JSON-RPC 2.0 section 5: a response carries either result or error, and the id of its request.
const responseSchema = z.object({
  id: z.int().nullish(),
  result: z.unknown().optional(),
  error: z.object({ code: z.int(), message: z.string() }).nullish(),
})
type RpcResponse = z.output<typeof responseSchema>
const bodySchema = z.union([z.array(responseSchema), responseSchema.transform((one) => [one])])

/** Opens the chain's first endpoint. A chain without one answers `unreachable`. */
export function rpcFor(world: ChainWorld, chain: Chain): Rpc {
  const url = world.config.chainRpcUrls[chain.caip2]?.[0]
  const batch: Rpc['batch'] = async (calls, limits = {}) => {
    const { timeoutMilliseconds, responseBytesMax = defaultResponseBytesMax } = limits
    const lost = (reason: string) => calls.map(() => unreachable(reason))
    if (!url) return lost('not connected')
    try {
      const signal = world.deadline(timeoutMilliseconds ?? defaultTimeoutMilliseconds)
      const body = await post(world, url, encodeCalls(calls), signal, responseBytesMax)
      const read = bodySchema.safeParse(body)
      return read.success ? matchAnswers(calls, read.data) : lost('the answer is not JSON-RPC')
    } catch (error) {
      return lost(error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error')
    }
  }
  const request: Rpc['request'] = async (method, params, limits) => {
    const [answer] = await batch([{ method, params }], limits)
    return answer ?? unreachable('no answer')
  }
  return { request, batch }
}

/** The value of an answer as the schema reads it, or why there is none. */
export function readAnswer<Value>(
  answer: RpcAnswer | undefined,
  schema: z.ZodType<Value>,
): { value: Value } | Unavailable {
  if (!answer) return unavailable('no answer')
  if ('failure' in answer) return unavailable(describe(answer.failure))
  const read = schema.safeParse(answer.result)
  return read.success ? { value: read.data } : unavailable('the answer has another shape')
}

/** The one way to say that a node gave nothing usable. */
export function unavailable(log: string): Unavailable {
  return { status: 'unavailable', log }
}

function describe(failure: RpcFailure): string {
  return failure.kind === 'rpc' ? `rpc error ${failure.code}: ${failure.message}` : failure.reason
}

function unreachable(reason: string): RpcAnswer {
  return { failure: { kind: 'unreachable', reason } }
}

function encodeCalls(calls: readonly RpcCall[]): string {
  const envelopes = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
  // Some gateways refuse or bill batches of one, so a lone call travels bare.
  return JSON.stringify(envelopes.length === 1 ? envelopes[0] : envelopes)
}

async function post(
  { fetch }: ChainWorld,
  url: string,
  body: string,
  signal: AbortSignal,
  responseBytesMax: number,
): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  // An endpoint that redirects is misconfigured; following could leak the key that its path holds.
  const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
  const text = await readBounded(response, responseBytesMax)
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`HTTP ${response.status}, not JSON`)
  }
}

/** Reads at most `bytesMax`; the fetch's signal also ends a body that only trickles. */
async function readBounded(response: Response, bytesMax: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  const chunks: AsyncIterable<Uint8Array> | null = response.body
  for await (const chunk of chunks ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new Error('the answer is too long')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function matchAnswers(calls: readonly RpcCall[], responses: RpcResponse[]): RpcAnswer[] {
  const [first] = responses
  // A whole batch may be refused with one error that carries no id (JSON-RPC 2.0 section 6).
  const refusal = first?.error && (first.id ?? null) === null ? first : undefined
  return calls.map((_, id) => {
    const response = refusal ?? responses.find((candidate) => candidate.id === id)
    if (!response) return unreachable('a call was left unanswered')
    if (!response.error) return { result: response.result }
    const { code, message } = response.error
    return { failure: { kind: 'rpc', code, message: message.slice(0, messageLengthMax) } }
  })
}
