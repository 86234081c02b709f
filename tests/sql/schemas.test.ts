/** Databases get from supabase/migrations what people read in supabase/schemas. */
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { applySchemas } from '../../scripts/generate/migration.ts'
import { catalogOf } from '../support/catalog.ts'
import { createDatabase } from '../support/database.ts'
import { filesIn } from '../support/tidy/files.ts'

const defined =
  /^create (?:or replace )?(?:unlogged )?(?:table|type|domain|view|function) ((?:private|api)\.\w+)/gm

async function catalogAt(url: string): Promise<string[]> {
  const sql = postgres(url, { max: 1, onnotice() {} })
  const catalog = await catalogOf(sql)
  await sql.end({ timeout: 1 })
  return catalog
}

test('the schemas make the catalog that the migrations make', async () => {
  const migrated = await createDatabase()
  const empty = await createDatabase('template1')
  await applySchemas(empty.url)

  const [ofMigrations, ofSchemas] = [await catalogAt(migrated.url), await catalogAt(empty.url)]
  await migrated.drop()
  await empty.drop()

  expect(ofSchemas.length).toBeGreaterThan(1000)
  expect(ofSchemas).toEqual(ofMigrations)
})

test('the schemas name only what stands before', () => {
  const files = filesIn('supabase/schemas').toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const text = files.map((file) => file.text.replaceAll(/--.*/g, '')).join('\n')
  const places = new Map([...text.matchAll(defined)].map(({ 1: name, index }) => [name, index]))

  const forward = [...text.matchAll(/\b(?:private|api)\.\w+/g)].filter(
    ({ 0: name, index }) => index < (places.get(name) ?? text.length),
  )

  expect(places.size).toBeGreaterThan(500)
  expect(forward.map(({ 0: name }) => name)).toEqual([])
})
