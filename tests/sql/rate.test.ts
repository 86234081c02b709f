import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

test('a bucket lets its burst pass and what it gained meanwhile, however many come at once', async () => {
  const take = () =>
    db.sql`select private.take('narrow', 20, 1)`.then(
      () => 'passed',
      () => 'refused',
    )

  const began = performance.now()
  const answers = await Promise.all(Array.from({ length: 60 }, take))
  const gained = Math.floor((performance.now() - began) / 1000)

  const passed = answers.filter((answer) => answer === 'passed').length
  expect(passed).toBeGreaterThanOrEqual(20)
  expect(passed).toBeLessThanOrEqual(20 + gained)
})

test('a refusal tells how long to wait', async () => {
  await db.sql`select private.take('waiting', 1, 1)`

  const refused = db.sql`select private.take('waiting', 1, 1)`

  await expect(refused).rejects.toMatchObject({
    message: 'rate_limited',
    detail: '{"retry_after_seconds": 1}',
  })
})
