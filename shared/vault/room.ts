/** What the parts of the vault work with. */
import { required } from '../env.ts'
import type { Roots } from '../sealing/roots.ts'
import { readRoots } from '../sealing/roots.ts'
import type { World } from '../world.ts'

/** The world of the vault and the roots that it alone holds. */
export type VaultRoom = { world: World; roots(purpose: 'vault' | 'mail'): Roots }

/** Reads the roots when they are first asked for. */
export function openRoom(world: World): VaultRoom {
  const opened = new Map<string, Roots>()
  return {
    world,
    roots(purpose) {
      const roots =
        opened.get(purpose) ?? readRoots(required(world.config, 'VAULT_ROOT_KEYS'), purpose)
      opened.set(purpose, roots)
      return roots
    },
  }
}
