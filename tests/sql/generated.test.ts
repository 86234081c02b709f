import postgres from 'postgres'
import { expect, test } from 'vitest'
import { products, staleFiles } from '../../scripts/generate.ts'
import { createDatabase } from '../support/database.ts'

test('the generated files are those that follow from schemas and contracts', async () => {
  const database = await createDatabase()
  const sql = postgres(database.url, { max: 1 })

  const stale = staleFiles(await products(sql))
  await sql.end({ timeout: 1 })
  await database.drop()

  expect(stale, 'run `npm run generate`').toEqual([])
})
