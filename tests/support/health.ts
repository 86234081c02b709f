/** Results of the health watch, for tests that run none. */
import type { World } from '../../shared/world.ts'
import type { TestDatabase } from './database.ts'

/** Records that everything is well on these chains, whatever the clock shows. */
export async function findAllWell(db: TestDatabase, chains: readonly string[]): Promise<void> {
  const parts = [
    'custody',
    'vault',
    'walletconnect',
    ...chains.map((chain) => `endpoints:${chain}`),
  ]
  await db.sql`insert into private.health (part, looked_at)
    select part, 'infinity' from unnest(${parts}::text[]) part on conflict do nothing`
}

/** Deletes the results and an isolate's memory of them, as before the first watch. */
export async function forgetHealth(db: TestDatabase, { healthSeen }: World): Promise<void> {
  delete healthSeen.kept
  await db.sql`delete from private.health`
}
