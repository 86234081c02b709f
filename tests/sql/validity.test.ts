/** The signature of a purchase is valid as long as its terms say. */
import { beforeAll, expect, test } from 'vitest'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

const at = 1_795_226_000
const end = (seconds: number) => ({ protocol: 'mpp', version: 1, valid_until: at + seconds })

test.each([
  ['version 2 from ever', { protocol: 'x402', version: 2 }, 0, at + 60],
  ['version 1 from ten minutes ago', { protocol: 'x402', version: 1 }, at - 600, at + 60],
  ['a challenge of MPP until its end', end(30), 0, at + 30],
  ['and no longer than asked for', end(90), 0, at + 60],
])('%s', async (_, terms, from, until) => {
  const given = JSON.stringify({ ...terms, valid_seconds: 60 })

  const [row] = await world.db.sql`
    select good_from::integer, good_until::integer from private.validity_of(${given}::text::jsonb, ${at})`

  expect(row).toEqual({ good_from: from, good_until: until })
})
