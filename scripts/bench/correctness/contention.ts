/** Measures how many payments a second are decided and reserved when many callers do so at once. */

import type { Sql } from 'postgres'
import postgres from 'postgres'
import type { Figure } from '../report.ts'
import { inParallel } from '../runtimes.ts'
import { type BenchWorld, begin, type Caller, callerOf, reserve } from '../world.ts'

const contenders = 32
const decisions = 1_500
const accounts = 1_000

/** Measures the rate on one account and the rate over 1,000 accounts, each with 32 connections. */
export async function benchContention(world: BenchWorld): Promise<Figure[]> {
  const pool = postgres(world.databaseUrl, { max: contenders, onnotice() {} })
  try {
    const one = await callerOf(world, world.sql)
    const many: Caller[] = []
    while (many.length < accounts) many.push(await callerOf(world, world.sql))
    const single = await rate(pool, () => one)
    const spread = await rate(pool, (at) => many[at % accounts] ?? one)
    const named = (name: string, value: number, target: number): Figure => ({
      name,
      value,
      target,
      isMinimum: true,
      detail: { connections: contenders },
    })
    return [
      named('decide and reserve a second, 32 at once on one account', single, 300),
      named('decide and reserve a second, over 1,000 accounts', spread, 1_500),
    ]
  } finally {
    await pool.end({ timeout: 1 })
  }
}

/** Enters the payments before the clock starts, so that only facts, decision and reservation count. */
async function rate(pool: Sql, callerAt: (at: number) => Caller): Promise<number> {
  const entered: string[] = []
  await inParallel(decisions, contenders, async (at) => {
    entered[at] = await begin(pool, callerAt(at))
  })
  const began = performance.now()
  await inParallel(decisions, contenders, (at) => reserve(pool, callerAt(at), entered[at] ?? ''))
  return (1_000 * decisions) / (performance.now() - began)
}
