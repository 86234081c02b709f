/** Has the mailer look into the outbox at once. Its schedule finds anything that this misses. */
import type { World } from '../world.ts'

/** Takes work that continues after the response is sent. Its outcome is not reported to anybody. */
export type WaitUntil = (work: Promise<void>) => void

/** Tells the mailer that something waits. */
export function wakeMailer(world: World, later: WaitUntil): void {
  const failed = (error: unknown) => world.log({ work: 'mail', log: String(error) })
  if (world.mailer) later(world.mailer.deliver().catch(failed))
}
