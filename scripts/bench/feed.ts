/** Compares wallet-activity-list over a large feed table with the same over a small one. */
import type { Sql } from 'postgres'
import { measureLoad } from './processes.ts'
import { type Figure, median, quantile } from './report.ts'
import type { BenchWorld } from './world.ts'

const smallRows = 1_000
const requests = 200
const strangers = 100

/** Measures the first page of the feed in a database of `rows` rows and in one of 1,000. */
export async function benchFeed(
  world: BenchWorld,
  rounds: number,
  rows: number,
): Promise<Figure[]> {
  const large = await world.serve('bench_large')
  try {
    const few = await world.agent(world.sql)
    const many = await world.agent(large.sql)
    await fill(world.sql, few.id, smallRows)
    await fill(large.sql, many.id, rows)
    const arms = [
      { url: `${world.url}/wallet-activity-list?limit=50`, key: few.key },
      { url: `${large.url}/wallet-activity-list?limit=50`, key: many.key },
    ].map((arm) => ({ ...arm, requests, parallel: 1 }))
    const latencies: number[][] = [[], []]
    for (let round = 0; round <= rounds; round += 1) {
      for (const [at, arm] of arms.entries()) {
        const { latencies: found } = await measureLoad(arm)
        if (round > 0) latencies[at]?.push(...found)
      }
    }
    const [small = [], big = []] = latencies
    const detail = {
      'p50 ms at 1,000 rows': median(small),
      [`p50 ms at ${rows} rows`]: median(big),
      'p95 ratio': quantile(big, 0.95) / quantile(small, 0.95),
    }
    const value = median(big) / median(small)
    return [{ name: 'wallet-activity-list, large feed over small', value, target: 1.2, detail }]
  } finally {
    await large.stop()
  }
}

/** Fills the feed. Half of the rows are the caller's own; the rest belong to many other accounts. */
async function fill(sql: Sql, account: string, rows: number): Promise<void> {
  await sql`
    with others as (
      insert into private.accounts (alias) select 'other-' || n from generate_series(1, ${strangers}) n
      returning id
    ), numbered as (select id, row_number() over () - 1 as n from others)
    insert into private.activities (account, category, type, summary)
    select case when g % 2 = 0 then ${account}::uuid else o.id end, 'account', 'note', 'row ' || g
    from generate_series(1, ${rows}::int) g join numbered o on o.n = g % ${strangers}`
  await sql`analyze private.activities`
}
