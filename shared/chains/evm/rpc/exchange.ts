/**
 * Makes one HTTP exchange with one endpoint. It never throws. An endpoint that is down, slow, too busy,
 * sends too much or sends invalid data leaves its calls `unreachable`. Only a node's own error about a call
 * is `rpc`.
 */
import * as z from 'zod'
import type { World } from '../../../world.ts'
import type { RpcAnswer, RpcCall } from './endpoints.ts'

/** Answers in the order of the calls, and the rest that the endpoint requested. */
export type Exchange = { answers: RpcAnswer[]; retryAfterMilliseconds?: number }

/** Limits on reading an answer: an abort signal and a number of bytes. */
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
    // A redirect means a misconfigured endpoint. Following it could leak the API key in its path.
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
    const { status } = response
    const text = await readBounded(response, responseBytesMax)
    if (isOfEndpoint(status)) return { answers: lost(`HTTP ${status}`), ...askedRest(response) }
    const said = [parseReply(text)].flat()
    // Zod reports an issue for each invalid element, so a list that is too long is not parsed.
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

/** Returns the answer of a call that got no response. */
export function unreachable(reason: string): RpcAnswer {
  return { failure: { kind: 'unreachable', reason } }
}

function encodeCalls(calls: readonly RpcCall[]): string {
  const envelopes = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
  // Some gateways refuse or bill batches of one, so a single call is sent without an array.
  return JSON.stringify(envelopes.length === 1 ? envelopes[0] : envelopes)
}

/** Reads at most `responseBytesMax`. The fetch's signal also ends a body that only trickles. */
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

/** Returns true if the status concerns the key, quota or gateway; node errors come with 200, 400 or 500. */
function isOfEndpoint(status: number): boolean {
  return status > 500 || [401, 402, 403, 404, 408, 429].includes(status)
}

/** Reads Retry-After in seconds (RFC 9110 section 10.2.3). The rare date form is ignored. */
function askedRest({ headers }: Response): Pick<Exchange, 'retryAfterMilliseconds'> {
  const asked = headers.get('retry-after') ?? ''
  return /^\d{1,6}$/.test(asked) ? { retryAfterMilliseconds: Number(asked) * 1_000 } : {}
}

function parseReply(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function matchAnswers(calls: readonly RpcCall[], responses: RpcResponse[]): RpcAnswer[] {
  const [first] = responses
  // A server may refuse a whole batch with one error that carries no id (JSON-RPC 2.0 section 6).
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

// Limit exceeded (EIP-1474), and the codes of hosted endpoints: Alchemy, QuickNode, OP's proxyd.
const busyCodes = new Set([-32005, 429, -32007, -32016])

/** Detects "too many requests". A contract may revert with the same words, so code 3 is an answer. */
function isBusy(code: number, message: string): boolean {
  const phrases = /rate.?limit|too many requests|requests? limit/i
  return busyCodes.has(code) || (code !== 3 && phrases.test(message))
}
