/**
 * Work that a request starts but does not wait for. No answer depends on it: if the platform ends an
 * isolate early, a schedule does the same work a little later.
 */
import type { Context as HonoContext } from 'hono'
import type { WaitUntil } from '../mail/wake.ts'

/** Returns the platform's waitUntil, if any: it keeps an isolate alive until the work is done. */
export function waitUntilOf(c: HonoContext): WaitUntil {
  return (work) => {
    try {
      c.executionCtx.waitUntil(work)
    } catch {
      // Hono throws if the platform gave no ExecutionContext; then nothing ends the work early.
    }
  }
}
