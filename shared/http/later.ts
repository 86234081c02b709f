/**
 * Work that a request starts and does not wait for. It is never needed for the answer to be true:
 * where the platform ends an isolate early, a schedule does the same work a little later.
 */
import type { Context as HonoContext } from 'hono'
import type { World } from '../world.ts'

/** Takes work that goes on after the answer; how it ends is nobody's business. */
export type Later = (work: Promise<void>) => void

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

/** Tells the mailer that something waits. */
export function wakeMailer(world: World, later: Later): void {
  const failed = (error: unknown) => world.log({ work: 'mail', log: String(error) })
  if (world.mailer) later(world.mailer.deliver().catch(failed))
}
