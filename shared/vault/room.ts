/** What the parts of the vault work with. */
import { required } from '../env.ts'
import { type Later, wakeMailer } from '../mail/wake.ts'
import type { Roots } from '../sealing/roots.ts'
import { readRoots } from '../sealing/roots.ts'
import type { World } from '../world.ts'

/** The world of the vault and the roots that it alone holds. */
export type VaultRoom = {
  world: World
  roots(purpose: 'vault' | 'mail'): Roots
  /** Has the mailer look into the outbox; nobody waits for it. */
  mailSoon(): void
}

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
    mailSoon: () => wakeMailer(world, later),
  }
}
