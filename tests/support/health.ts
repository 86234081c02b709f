/** What a watch finds, for tests in which none runs. */
import type { World } from '../../shared/world.ts'
import type { TestDatabase } from './database.ts'

/** Everything is well on these chains, and stays so however the clock moves. */
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

/** Forgets what was found and what an isolate knows of it, as before the first look. */
export async function forgetHealth(db: TestDatabase, { healthSeen }: World): Promise<void> {
  delete healthSeen.kept
  await db.sql`delete from private.health`
}
