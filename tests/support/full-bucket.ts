/** Fills up the buckets that all callers without an account share. */
import type { TestWorld } from './world.ts'

/** Takes this many seconds from a bucket at once, as strangers of very many networks would. */
export async function fillBucket(world: TestWorld, bucket: string, seconds: number): Promise<void> {
  await world.db.sql`
    insert into private.rate_buckets
    values (${bucket}, private.clock() + make_interval(secs => ${seconds}))
    on conflict (bucket) do update set arrives_at = excluded.arrives_at`
}
