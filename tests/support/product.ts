/**
 * Builds the product from what a platform binds, with custody and vault in the same isolate. A test's own
 * process and all isolates that it starts are built here, so they differ only in what a test controls.
 */
import { mailReader } from '../../functions/mail-reader/index.ts'
import { openQuery } from '../../scripts/serve/query.ts'
import { openCustody } from '../../shared/custody/custody.ts'
import { type Database, openDatabase } from '../../shared/db/database.ts'
import { openDirectDatabase } from '../../shared/db/direct/direct.ts'
import { readConfig } from '../../shared/env.ts'
import { openVault } from '../../shared/vault/vault.ts'
import { type World, worldFrom } from '../../shared/world.ts'

type Texts = Record<string, string>

/** Bindings of the functions and, with their own secrets, of custody and the vault. */
export type Bindings = { product: Texts; custody: Texts; vault: Texts }

export type Held = Partial<
  Pick<World, 'now' | 'log' | 'deadline' | 'fetch' | 'pause' | 'randomBytes' | 'newId'>
>

export function openProduct({ product, custody, vault }: Bindings, held: Held): World {
  const base = { ...worldFrom(product), ...held }
  return {
    ...base,
    db: databaseOf(base, product),
    custody: openCustody(withOwn(base, custody)),
    vault: openVault(withOwn(base, vault)),
    mailReader: mailReader(base),
    healthSeen: wellFor(base),
  }
}

/**
 * Returns health as if just read, and valid forever. An isolate that read it at its own time would make one
 * more request, which tests of lost requests would have to expect.
 */
function wellFor({ config }: World): World['healthSeen'] {
  const health = { watched: true, chains: Object.keys(config.chainRpcUrls), failing: [] }
  return { kept: { health, untilMilliseconds: Number.POSITIVE_INFINITY } }
}

/** Returns the same world with settings and a database connection of its own. */
function withOwn(base: World, bindings: Texts): World {
  return { ...base, config: readConfig(bindings), db: databaseOf(base, bindings) }
}

/** Opens the database through PostgREST, or with `DATABASE=direct` without it. */
function databaseOf({ fetch }: World, bindings: Texts): Database {
  if (process.env['DATABASE'] !== 'direct') return openDatabase(readConfig(bindings), fetch)
  const isCustody = 'CUSTODY_DATABASE_KEY' in bindings
  const role = isCustody ? 'custody' : 'VAULT_DATABASE_KEY' in bindings ? 'vault' : 'service_role'
  const databaseUrl = bindings['DATABASE_URL'] ?? ''
  return openDirectDatabase(openQuery({ databaseUrl, role, connections: 4 }).query)
}
