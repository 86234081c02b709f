/**
 * Work that a request starts and does not wait for. It is never needed for the answer to be true:
 * where the platform ends an isolate early, a schedule does the same work a little later.
 */
import type { Context as HonoContext } from 'hono'
import type { Later } from '../mail/wake.ts'

/** The platform's way to keep an isolate until the work is done, where it has one. */
export function laterOf(c: HonoContext): Later {
  return (work) => {
    try {
      c.executionCtx.waitUntil(work)
    } catch {
      // Hono throws where the platform gave no ExecutionContext: there nothing ends the work.
    }
  }
}
