/** The cost of a query in PostgreSQL blocks. */
import { expect } from 'vitest'
import * as z from 'zod'
import type { TestWorld } from './world.ts'

const undone = new Error('undone')

const explained = z.tuple([
  z.object({
    'QUERY PLAN': z.tuple([
      z.object({
        Plan: z.object({ 'Shared Hit Blocks': z.int(), 'Shared Read Blocks': z.int() }),
      }),
    ]),
  }),
])

/** Returns the number of blocks that a query and its calls read, then rolls it back. */
export async function costOf({ db }: Pick<TestWorld, 'db'>, query: string): Promise<number> {
  let blocks = 0
  const taken = db.sql.begin(async (sql) => {
    // The first call of a session also reads the catalog.
    const first = sql.savepoint(async (inner) => {
      await inner.unsafe(query)
      throw undone
    })
    await expect(first).rejects.toBe(undone)
    const answer = await sql.unsafe(`explain (analyze, buffers, timing off, format json) ${query}`)
    const [
      {
        'QUERY PLAN': [{ Plan: plan }],
      },
    ] = explained.parse([...answer])
    blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    throw undone
  })
  await expect(taken).rejects.toBe(undone)
  return blocks
}
