/**
 * The product over what a platform binds, with custody in the same isolate. A test's own process and
 * every isolate that it starts are made here, so they are the same but for what is held.
 */
import { openCustody } from '../../shared/custody/custody.ts'
import { openDatabase } from '../../shared/db/database.ts'
import { readConfig } from '../../shared/env.ts'
import type { World } from '../../shared/world.ts'
import { worldFrom } from '../../shared/world.ts'

/** Bindings of the functions and, with its own secrets, of custody. */
export type Bindings = { product: Record<string, string>; custody: Record<string, string> }

export type Held = Partial<Pick<World, 'now' | 'log' | 'deadline' | 'fetch' | 'pause'>>

export function openProduct({ product, custody }: Bindings, held: Held): World {
  const base = { ...worldFrom(product), ...held }
  const config = readConfig(custody)
  const ledger = { ...base, config, db: openDatabase(config, base.fetch) }
  return { ...base, db: openDatabase(base.config, base.fetch), custody: openCustody(ledger) }
}
