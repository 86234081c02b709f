/**
 * What a node may answer, and how that is read. Results are foreign until a schema has read them.
 */
import type * as z from 'zod'

/**
 * `unreachable`: no answer to this call, so whether it took effect is unknown. `rpc`: the node
 * refused it.
 */
export type RpcFailure =
  | { kind: 'unreachable'; reason: string }
  | { kind: 'rpc'; code: number; message: string }

/** A result as the node sent it, not yet read by any schema. */
export type RpcAnswer = { result: unknown } | { failure: RpcFailure }
/** One call, before it has an id. */
export type RpcCall = { method: string; params: readonly unknown[] }

/** What every read answers when the node gave nothing usable. `log` is for the operator alone. */
export type Unavailable = { status: 'unavailable'; log: string }

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

/** Null is what a node says of a block or a receipt that it has not seen, so another may know it. */
export function isFound([answer]: readonly RpcAnswer[]): boolean {
  return answer !== undefined && 'result' in answer && (answer.result ?? null) !== null
}

/** The one way to say that a node gave nothing usable. */
export function unavailable(log: string): Unavailable {
  return { status: 'unavailable', log }
}

function describe(failure: RpcFailure): string {
  return failure.kind === 'rpc' ? `rpc error ${failure.code}: ${failure.message}` : failure.reason
}
