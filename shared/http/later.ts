/**
 * Work that outlives the wait of a client: what a request starts and does not wait for, and the request
 * itself once its client has gone away.
 */
import type { ExecutionContext, Context as HonoContext } from 'hono'
import type { WaitUntil } from '../mail/outbox.ts'

/** Answers a request, as a platform calls it. */
export type Serving<Answer = Response | Promise<Response>> = (
  request: Request,
  bindings?: Record<string, unknown>,
  execution?: ExecutionContext,
) => Answer

/**
 * Makes a handler run to its end. Without it, workerd ends a request at its current await as soon as its
 * client resets the connection, with money or a secret on the way. A platform that gives no
 * ExecutionContext, such as Deno, does not end a handler early.
 */
export function runToEnd<Answer>(serve: Serving<Answer>): Serving<Answer> {
  return (request, bindings, execution) => {
    const answer = serve(request, bindings, execution)
    const settled = Promise.resolve(answer).then(nothing, nothing)
    execution?.waitUntil(settled)
    return answer
  }
}

const nothing = () => {}

/**
 * Returns the platform's waitUntil, if any: it keeps an isolate alive until the work is done. No answer
 * depends on that work: if the platform ends an isolate early, a schedule does the same a little later.
 */
export function waitUntilOf(c: HonoContext): WaitUntil {
  return (work) => {
    try {
      c.executionCtx.waitUntil(work)
    } catch {
      // Hono throws if the platform gave no ExecutionContext; then nothing ends the work early.
    }
  }
}
