/** Has the mailer look into the outbox without waiting for it: its schedule finds what this misses. */
import type { World } from '../world.ts'

/** Takes work that goes on after the answer; how it ends is nobody's business. */
export type Later = (work: Promise<void>) => void

/** Tells the mailer that something waits. */
export function wakeMailer(world: World, later: Later): void {
  const failed = (error: unknown) => world.log({ work: 'mail', log: String(error) })
  if (world.mailer) later(world.mailer.deliver().catch(failed))
}
