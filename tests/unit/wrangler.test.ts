import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { functionFolders } from '../../scripts/build.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import { readConfig } from '../../shared/env.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const functions = await readFunctions()
/** Reached by another function or by the clock, never from outside. */
const internal = ['custody', 'housekeeping']

/** What each function's code asks the bindings for. */
function secretsOf(folder: string): string[] {
  if (folder === 'not-found') return []
  if (folder === 'web') return ['SUPABASE_SERVICE_KEY', 'API_KEY_PEPPER', 'SESSION_PRIVATE_KEY']
  if (folder === 'custody') return ['CUSTODY_DATABASE_KEY', 'CUSTODY_ROOT_KEYS']
  const contract = contracts.find((one) => one.folder === folder)
  const readsTokens = contract !== undefined && contract.access !== 'public'
  return ['SUPABASE_SERVICE_KEY', ...(readsTokens ? ['API_KEY_PEPPER'] : [])]
}

test('every function folder is one environment, and every environment a folder', () => {
  const text = readFileSync(`${root}/wrangler.toml`, 'utf8')
  const environments = [...text.matchAll(/^\[env\.([^.\]]+)\]$/gm)].map(([, name = '']) => name)

  expect(environments.toSorted()).toEqual(functionFolders().toSorted())
})

test.each(functions)('$folder is named and found by its folder', ({ folder, name, main }) => {
  expect(name).toBe(`aoa-${folder}`)
  expect(relative(root, main)).toBe(`functions/${folder}/index.ts`)
})

test.each(functions)('$folder has the route of its folder, or none', ({ folder, prefixes }) => {
  const wanted = folder === 'not-found' ? ['/'] : [`/${folder}`]

  expect(prefixes).toEqual(internal.includes(folder) ? [] : wanted)
})

test('only the functions that have payments signed or cancelled can reach custody', () => {
  const bound = functions.filter(({ services }) => services.length > 0)

  expect(Object.fromEntries(bound.map(({ folder, services }) => [folder, services]))).toEqual({
    housekeeping: [{ binding: 'CUSTODY', service: 'aoa-custody' }],
    'account-freeze': [{ binding: 'CUSTODY', service: 'aoa-custody' }],
    'wallet-custodial-transfer': [{ binding: 'CUSTODY', service: 'aoa-custody' }],
    'x402-payment-execute': [{ binding: 'CUSTODY', service: 'aoa-custody' }],
  })
})

test.each(functions)(
  '$folder is given the secrets that it needs, no more',
  ({ folder, secrets }) => {
    expect(secrets.toSorted()).toEqual(secretsOf(folder).toSorted())
  },
)

test.each(functions.filter(({ folder }) => folder !== 'not-found'))(
  '$folder can start with what it is given, in production',
  ({ vars, secrets }) => {
    const given = Object.fromEntries(secrets.map((name) => [name, 'a secret of sixteen or more']))

    const config = readConfig({ ...vars, ...given })

    expect(config).toMatchObject({ ENVIRONMENT: 'production', allowLoopback: false })
  },
)

test('housekeeping alone runs on a schedule', () => {
  const scheduled = functions.filter(({ crons }) => crons.length > 0)

  expect(scheduled.map(({ folder }) => folder)).toEqual(['housekeeping'])
})
