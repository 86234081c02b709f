/**
 * Orders a chain's endpoints. One that gave no answer is set aside for a while: that changes the order but
 * removes none, so if all are set aside, the one that returns first is still asked. The functions are pure.
 * The caller keeps the records, and knows which failures are the endpoint's and which the call's.
 */
import type * as z from 'zod'
import type { Hex } from '../../hex.ts'

/** Failure record of an endpoint since it last answered. */
export type Health = { outages: number; restsUntilMilliseconds: number }
/** Records by URL. An endpoint without one is healthy. */
export type EndpointHealth = Map<string, Health>

const restMinMilliseconds = 1_000
/** Longest time for which an endpoint is set aside, whatever it requests. */
const restMaxMilliseconds = 60_000

/** Returns healthy endpoints in configured order, then those set aside, the first to return first. */
export function byPreference(
  urls: readonly string[],
  health: ReadonlyMap<string, Health>,
  nowMilliseconds: number,
): string[] {
  const restOf = (url: string) =>
    Math.max(0, (health.get(url)?.restsUntilMilliseconds ?? 0) - nowMilliseconds)
  return urls.toSorted((a, b) => restOf(a) - restOf(b))
}

/**
 * Returns the record after a failure. Each new outage doubles the rest. Failures of calls that were under
 * way when the outage began belong to it and do not. `retryAfterMilliseconds` is the rest that the endpoint
 * requested.
 */
export function afterFailure(
  { outages, restsUntilMilliseconds }: Health = { outages: 0, restsUntilMilliseconds: 0 },
  nowMilliseconds: number,
  retryAfterMilliseconds = 0,
): Health {
  const isNew = restsUntilMilliseconds <= nowMilliseconds
  const own = isNew ? restMinMilliseconds * 2 ** outages : 0
  const rest = Math.min(Math.max(own, retryAfterMilliseconds), restMaxMilliseconds)
  return {
    outages: isNew ? outages + 1 : outages,
    restsUntilMilliseconds: Math.max(restsUntilMilliseconds, nowMilliseconds + rest),
  }
}

/**
 * Returns the operator of an endpoint: the last two labels of its host, or host and port for an IP address
 * or localhost. Two operators below one public suffix count as one, which errs on the safe side.
 */
export function operatorOf(url: string): string {
  const { host, hostname: name } = new URL(url)
  // A DNS name may end in the dot of the root.
  const hostname = name.replace(/\.$/, '')
  const isAddress = /^\[|^[0-9.]+$|(^|\.)localhost$/.test(hostname)
  return isAddress ? host : hostname.split('.').slice(-2).join('.')
}

/** Returns true if no second operator could contradict: one operator runs all the endpoints. */
export function hasOneOperator(urls: readonly string[]): boolean {
  return new Set(urls.map(operatorOf)).size < 2
}

/**
 * Failure of one call. `unreachable`: there was no answer, so it is unknown whether the call took effect.
 * `rpc`: the node refused the call.
 */
export type RpcFailure =
  | { kind: 'unreachable'; reason: string }
  | { kind: 'rpc'; code: number; message: string }

/** A result as the node sent it, not yet parsed by any schema. */
export type RpcAnswer = { result: unknown } | { failure: RpcFailure }
/** One call, before it has an id. */
export type RpcCall = { method: string; params: readonly unknown[] }

/** Result of a read for which the node gave nothing usable. `log` is for the operator only. */
export type Unavailable = { status: 'unavailable'; log: string }

/** Returns the value of an answer as the schema parses it, or the reason why there is none. */
export function readRpcAnswer<Value>(
  answer: RpcAnswer | undefined,
  schema: z.ZodType<Value>,
): { value: Value } | Unavailable {
  if (!answer) return unavailable('no answer')
  if ('failure' in answer) return unavailable(describeFailure(answer.failure))
  const read = schema.safeParse(answer.result)
  return read.success ? { value: read.data } : unavailable('the answer has another shape')
}

/** Returns true if the first result is not null. Null: this node has not seen it; another one may have. */
export function isFound([answer]: readonly RpcAnswer[]): boolean {
  return answer !== undefined && 'result' in answer && (answer.result ?? null) !== null
}

/** Makes the result of a read for which the node gave nothing usable. */
export function unavailable(log: string): Unavailable {
  return { status: 'unavailable', log }
}

function describeFailure(failure: RpcFailure): string {
  return failure.kind === 'rpc' ? `rpc error ${failure.code}: ${failure.message}` : failure.reason
}

const wordDigits = 64
const wordBytes = 32

/**
 * Reads `(bool success, bytes returnData)[]` of `count` elements, in lower case. An element is undefined if
 * its call failed. Returns undefined if the data have any other layout.
 * https://docs.soliditylang.org/en/latest/abi-spec.html#formal-specification-of-the-encoding
 */
export function readResults(data: Hex, count: number): (Hex | undefined)[] | undefined {
  const words = (data.length - 2) / wordDigits
  // Offset of the list, and its length.
  if (numberAt(data, 0) !== wordBytes || numberAt(data, 1) !== count) return undefined
  const list = 2
  const results: (Hex | undefined)[] = []
  let next = list + count
  for (let index = 0; index < count; index += 1) {
    if (numberAt(data, list + index) !== (next - list) * wordBytes) return undefined
    const succeeds = numberAt(data, next)
    const length = numberAt(data, next + 2)
    if (succeeds === undefined || succeeds > 1 || length === undefined) return undefined
    if (numberAt(data, next + 1) !== 2 * wordBytes) return undefined
    const bytesAt = next + 3
    next = bytesAt + Math.ceil(length / wordBytes)
    if (next > words) return undefined
    results.push(succeeds === 1 ? abiBytes(data, bytesAt, length) : undefined)
  }
  return next === words ? results : undefined
}

/** Reads a word as an offset or length; undefined if it exceeds 32 bits or lies behind the end. */
function numberAt(data: Hex, word: number): number | undefined {
  const start = 2 + wordDigits * word
  const digits = data.slice(start, start + wordDigits)
  return /^0{56}[0-9a-f]{8}$/.test(digits) ? Number.parseInt(digits, 16) : undefined
}

function abiBytes(data: Hex, word: number, length: number): Hex {
  const start = 2 + wordDigits * word
  return `0x${data.slice(start, start + 2 * length)}`
}
