/**
 * One HTTP exchange with one endpoint. Nothing here throws: an endpoint that is down, slow, too
 * talkative, too busy or talks nonsense leaves its calls `unreachable`; only a node's own error
 * about a call is `rpc`.
 */
import * as z from 'zod'
import type { World } from '../../world.ts'
import type { RpcAnswer, RpcCall } from './answer.ts'

/** Answers in the order of the calls, and the rest that the endpoint asked for. */
export type Exchange = { answers: RpcAnswer[]; retryAfterMilliseconds?: number }

/** When to stop reading: at the signal, or after so many bytes of an answer. */
export type ExchangeBounds = { signal: AbortSignal; responseBytesMax: number }

const messageLengthMax = 300

// JSON-RPC 2.0 section 5: a response carries either result or error, and the id of its request.
const responseSchema = z.object({
  id: z.int().nullish(),
  result: z.unknown().optional(),
  error: z.object({ code: z.int(), message: z.string() }).nullish(),
})
type RpcResponse = z.output<typeof responseSchema>

/** Sends the calls in one request, once. */
export async function exchange(
  { fetch }: Pick<World, 'fetch'>,
  url: string,
  calls: readonly RpcCall[],
  { signal, responseBytesMax }: ExchangeBounds,
): Promise<Exchange> {
  const lost = (reason: string) => calls.map(() => unreachable(reason))
  try {
    const headers = { 'content-type': 'application/json' }
    const body = encodeCalls(calls)
    // An endpoint that redirects is misconfigured; following could leak the key that its path holds.
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
    const { status } = response
    const text = await readBounded(response, responseBytesMax)
    if (isOfEndpoint(status)) return { answers: lost(`HTTP ${status}`), ...askedRest(response) }
    const said = [parse(text)].flat()
    // A schema tells what is wrong with each element, so a long list is not shown to it.
    const read = said.length > calls.length ? undefined : z.array(responseSchema).safeParse(said)
    const answers = read?.success
      ? matchAnswers(calls, read.data)
      : lost(`HTTP ${status}, not JSON-RPC`)
    return { answers }
  } catch (error) {
    return {
      answers: lost(error instanceof Error ? `${error.name}: ${error.message}` : 'unknown error'),
    }
  }
}

/** A call that nobody answered. */
export function unreachable(reason: string): RpcAnswer {
  return { failure: { kind: 'unreachable', reason } }
}

function encodeCalls(calls: readonly RpcCall[]): string {
  const envelopes = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
  // Some gateways refuse or bill batches of one, so a lone call travels bare.
  return JSON.stringify(envelopes.length === 1 ? envelopes[0] : envelopes)
}

/** Reads at most `responseBytesMax`; the fetch's signal also ends a body that only trickles. */
async function readBounded(response: Response, responseBytesMax: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  const chunks: AsyncIterable<Uint8Array> | null = response.body
  for await (const chunk of chunks ?? []) {
    bytes += chunk.byteLength
    if (bytes > responseBytesMax) throw new Error('the answer is too long')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Said of the key, the quota or a gateway's backends; a node's errors come with 200, 400 or 500. */
function isOfEndpoint(status: number): boolean {
  return status > 500 || [401, 402, 403, 404, 408, 429].includes(status)
}

/** Retry-After in seconds (RFC 9110 section 10.2.3); its other form, a date, is rare and ignored. */
function askedRest({ headers }: Response): Pick<Exchange, 'retryAfterMilliseconds'> {
  const asked = headers.get('retry-after') ?? ''
  return /^\d{1,6}$/.test(asked) ? { retryAfterMilliseconds: Number(asked) * 1_000 } : {}
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function matchAnswers(calls: readonly RpcCall[], responses: RpcResponse[]): RpcAnswer[] {
  const [first] = responses
  // A whole batch may be refused with one error that carries no id (JSON-RPC 2.0 section 6).
  const refusal = first?.error && (first.id ?? null) === null ? first : undefined
  return calls.map((_, id) => {
    const response = refusal ?? responses.find((candidate) => candidate.id === id)
    if (!response) return unreachable('a call was left unanswered')
    if (!response.error) return { result: response.result }
    const { code } = response.error
    const message = response.error.message.slice(0, messageLengthMax)
    if (isBusy(code, message)) return unreachable(`rpc error ${code}: ${message}`)
    return { failure: { kind: 'rpc', code, message } }
  })
}

// Limit exceeded (EIP-1474), and what hosted endpoints say instead: Alchemy, QuickNode, OP's proxyd.
const busyCodes = new Set([-32005, 429, -32007, -32016])

/** Too many requests. A contract may revert with the same words, which is an answer: code 3. */
function isBusy(code: number, message: string): boolean {
  const phrases = /rate.?limit|too many requests|requests? limit/i
  return busyCodes.has(code) || (code !== 3 && phrases.test(message))
}
