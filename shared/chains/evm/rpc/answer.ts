/** Types for a node's answers, and how they are read. A result is untrusted until a schema parses it. */
import type * as z from 'zod'

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
export function readAnswer<Value>(
  answer: RpcAnswer | undefined,
  schema: z.ZodType<Value>,
): { value: Value } | Unavailable {
  if (!answer) return unavailable('no answer')
  if ('failure' in answer) return unavailable(describe(answer.failure))
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

function describe(failure: RpcFailure): string {
  return failure.kind === 'rpc' ? `rpc error ${failure.code}: ${failure.message}` : failure.reason
}
