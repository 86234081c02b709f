/**
 * The product over what a platform binds, with custody and vault in the same isolate. A test's own process and
 * every isolate that it starts are made here, so they are the same but for what is held.
 */
import { mailReader } from '../../functions/mail-reader/index.ts'
import { openCustody } from '../../shared/custody/custody.ts'
import { openDatabase } from '../../shared/db/database.ts'
import { readConfig } from '../../shared/env.ts'
import { openVault } from '../../shared/vault/vault.ts'
import type { World } from '../../shared/world.ts'
import { worldFrom } from '../../shared/world.ts'

type Texts = Record<string, string>

/** Bindings of the functions and, with their own secrets, of custody and the vault. */
export type Bindings = { product: Texts; custody: Texts; vault: Texts }

export type Held = Partial<Pick<World, 'now' | 'log' | 'deadline' | 'fetch' | 'pause'>>

export function openProduct({ product, custody, vault }: Bindings, held: Held): World {
  const base = { ...worldFrom(product), ...held }
  return {
    ...base,
    db: openDatabase(base.config, base.fetch),
    custody: openCustody(withOwn(base, custody)),
    vault: openVault(withOwn(base, vault)),
    mailReader: mailReader(() => base),
    healthSeen: wellFor(base),
  }
}

/**
 * As if health had just been read, and for good: an isolate that reads it at some time of its own would
 * make one request more, which tests of requests that are lost would have to expect.
 */
function wellFor({ config }: World): World['healthSeen'] {
  const health = { watched: true, chains: Object.keys(config.chainRpcUrls), failing: [] }
  return { kept: { health, untilMilliseconds: Number.POSITIVE_INFINITY } }
}

/** The same world with settings and a database connection of its own. */
function withOwn(base: World, bindings: Texts): World {
  const config = readConfig(bindings)
  return { ...base, config, db: openDatabase(config, base.fetch) }
}
