/** What the parts of the vault work with. */
import { required } from '../env.ts'
import type { Roots } from '../sealing/roots.ts'
import { readRoots } from '../sealing/roots.ts'
import type { World } from '../world.ts'

/** The world of the vault and the roots that it alone holds. */
export type VaultRoom = {
  world: World
  roots(purpose: 'vault' | 'mail'): Roots
  /** Has the mailer look into the outbox; the answer does not wait for it. */
  mailSoon(): void
}

/** Takes work that goes on after the answer. */
export type Later = (work: Promise<void>) => void

/** Reads the roots when they are first asked for. */
export function openRoom(world: World, later: Later): VaultRoom {
  const opened = new Map<string, Roots>()
  return {
    world,
    roots(purpose) {
      const roots =
        opened.get(purpose) ?? readRoots(required(world.config, 'VAULT_ROOT_KEYS'), purpose)
      opened.set(purpose, roots)
      return roots
    },
    mailSoon() {
      const failed = (error: unknown) => world.log({ work: 'mail', log: String(error) })
      if (world.mailer) later(world.mailer.deliver().catch(failed))
    },
  }
}
