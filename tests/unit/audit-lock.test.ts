/** No version with a known weakness is locked without a note. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { advisoriesSchema, findingsIn, lockSchema } from '../../scripts/audit-lock/audit.ts'

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
const advisories = advisoriesSchema.parse(read('scripts/audit-lock/advisories.json'))
const lock = lockSchema.parse(read('package-lock.json'))

test('nothing that is locked has a noted weakness, and the program says so', () => {
  const told = execFileSync(process.execPath, ['scripts/audit-lock.ts'], { encoding: 'utf8' })

  expect(findingsIn(lock, advisories)).toEqual([])
  expect(told).toBe(`${advisories.length} advisories, 0 locked versions that one names\n`)
})

test.each([
  ['node_modules/hono', '4.12.33', true],
  ['node_modules/hono', '4.13.0-rc.1', false],
  ['node_modules/hono', '4.12.34', false],
  ['node_modules/a/node_modules/hono', '4.12.0', true],
  ['node_modules/honor', '4.12.0', false],
])('a lock with %s %s is found out: %s', (path, version, isFound) => {
  const packages = { '': { version: '1.0.0', name: 'hono' }, [path]: { version } }

  const found = findingsIn({ lockfileVersion: 3, packages }, advisories)

  expect(found.some((line) => line.startsWith(`hono ${version} at ${path}: GHSA-`))).toBe(isFound)
})

test('a package under another name is found by its own', () => {
  const packages = { 'node_modules/other': { version: '4.12.0', name: 'hono' } }

  expect(findingsIn({ lockfileVersion: 3, packages }, advisories)).not.toEqual([])
})

test('each advisory is of a package that is locked, and is noted once', () => {
  const paths = Object.keys(lock.packages)
  const unused = advisories.filter(
    (one) => !paths.some((path) => path.endsWith(`node_modules/${one.package}`)),
  )

  expect(unused).toEqual([])
  expect(new Set(advisories.map(({ id }) => id)).size).toBe(advisories.length)
})
