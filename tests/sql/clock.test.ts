import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await openTestDatabase()
})

afterAll(() => database.close())

test('a test stops and moves the time that SQL judges by', async () => {
  await database.setClock(new Date('2026-09-01T12:00:00Z'))
  await database.tick(90)

  const [row] = await database.sql`select private.clock() as now`

  expect(row).toEqual({ now: new Date('2026-09-01T12:01:30Z') })
})
