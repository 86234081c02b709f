/** What the parts of the vault work with. */
import { required } from '../env.ts'
import { type Later, wakeMailer } from '../mail/wake.ts'
import type { Roots } from '../sealing/roots.ts'
import { readRoots } from '../sealing/roots.ts'
import type { Wrap } from '../sealing/wrap.ts'
import type { World } from '../world.ts'
import type { Place } from './envelope.ts'
import { openRecord, readSealed } from './envelope.ts'

/** The world of the vault and the roots that it alone holds. */
export type VaultRoom = {
  world: World
  roots(purpose: 'vault' | 'mail'): Roots
  /** The bytes of a stored record; throws unless it was sealed for this place. */
  open(purpose: 'vault' | 'mail', record: Place & { wrap: Wrap; sealed: unknown }): Uint8Array
  /** Has the mailer look into the outbox; nobody waits for it. */
  mailSoon(): void
}

/** Reads the roots when they are first asked for. */
export function openRoom(world: World, later: Later): VaultRoom {
  const opened = new Map<string, Roots>()
  const rootsOf = (purpose: 'vault' | 'mail') => {
    const roots =
      opened.get(purpose) ?? readRoots(required(world.config, 'VAULT_ROOT_KEYS'), purpose)
    opened.set(purpose, roots)
    return roots
  }
  return {
    world,
    roots: rootsOf,
    open: (purpose, { wrap, sealed, ...place }) =>
      openRecord({ roots: rootsOf(purpose), wrap }, place, readSealed(sealed)),
    mailSoon: () => wakeMailer(world, later),
  }
}
