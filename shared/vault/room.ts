/** Context that the parts of the vault share. */
import { required } from '../env.ts'
import { type WaitUntil, wakeMailer } from '../mail/outbox.ts'
import { type Roots, readRoots } from '../sealing/roots.ts'
import type { WrappedAccountKey } from '../sealing/wrap.ts'
import type { World } from '../world.ts'
import { openRecord, type RecordBinding, readSealed } from './envelope.ts'

/** The vault's services and the roots that only the vault holds. */
export type VaultContext = {
  world: World
  roots(purpose: 'vault' | 'mail'): Roots
  /** Returns the bytes of a stored record; throws unless it was sealed for this place. */
  open(
    purpose: 'vault' | 'mail',
    record: RecordBinding & { wrap: WrappedAccountKey; sealed: unknown },
  ): Uint8Array
  /** Wakes the mailer for the outbox, without waiting for it. */
  mailSoon(): void
}

/** Returns a context that reads the roots when they are first needed. */
export function openVaultContext(world: World, later: WaitUntil): VaultContext {
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
    open: (purpose, { wrap, sealed, ...binding }) =>
      openRecord({ roots: rootsOf(purpose), wrap }, binding, readSealed(sealed)),
    mailSoon: () => wakeMailer(world, later),
  }
}
