import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { bundleRule } from '../../scripts/build/bundle-rules.ts'
import { buildFunctions, functionFolders } from '../../scripts/build/functions.ts'
import { isUpToDate } from '../../scripts/local/built.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import { offered } from '../../shared/remote/calls.ts'

const directory = mkdtempSync(join(tmpdir(), 'aoa-bundle-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const built = new Map((await buildFunctions(directory)).map((one) => [one.folder, one]))

function bundle(folder: string) {
  const found = built.get(folder)
  if (!found) throw new Error(`${folder} was not built`)
  return found
}

test.each(functionFolders())('%s weighs no more than its budget', (folder) => {
  expect(bundle(folder).gzipBytes).toBeLessThan(bundleRule(folder).gzipBytesMax)
})

test.each(functionFolders())('%s carries only packages that it may', (folder) => {
  const allowed = new Set(bundleRule(folder).packages)
  const foreign = Object.keys(bundle(folder).packages).filter((name) => !allowed.has(name))

  expect(foreign).toEqual([])
})

test.each(functionFolders())('%s imports nothing of the runtime that it may not', (folder) => {
  const allowed = new Set(bundleRule(folder).runtime)
  const foreign = bundle(folder).runtime.filter((name) => !allowed.has(name))

  expect(foreign).toEqual([])
})

test.each(functionFolders())('%s carries no code of another function', (folder) => {
  const own = `functions/${folder}/`
  const code = bundle(folder).sources.filter((path) => path.startsWith('functions/'))
  // Contracts are plain data, and code about all operations holds all of them.
  const isContract = (path: string) => /\/contracts?\.ts$/.test(path)

  expect(code.filter((path) => !path.startsWith(own) && !isContract(path))).toEqual([])
})

const functions = await readFunctions({ REMOTE_CALLS_PUBLIC_KEYS: '' })
/** Secrets that a function gives to the database or to chains, without requiring one of them by name. */
const optional = [
  'SUPABASE_SERVICE_KEY',
  'CUSTODY_DATABASE_KEY',
  'VAULT_DATABASE_KEY',
  'CHAIN_RPC_URLS',
]

/** Returns the settings that a bundle's code asks for by `required`, which throws without them. */
function requiredBy(folder: string): string[] {
  const code = readFileSync(bundle(folder).file, 'utf8')
  const calls = code.matchAll(/[\w$)\]],\s*["'`]([A-Z][A-Z_]{4,})["'`]\)/g)
  return [...new Set([...calls].map(([, name = '']) => name))]
}

test.each(functions)(
  '$folder is bound to what its code requires, and to no other secret',
  (one) => {
    const required = requiredBy(one.folder)
    const isPublic = contracts.find(({ folder }) => folder === one.folder)?.access === 'public'
    // Code that reads a caller's token is in the bundle of a public operation, too, and never runs there.
    const certain = required.filter((name) => !isPublic || name !== 'API_KEY_PEPPER')

    expect([...one.secrets, ...Object.keys(one.vars)]).toEqual(expect.arrayContaining(certain))
    expect([...required, ...optional]).toEqual(expect.arrayContaining([...one.secrets]))
  },
)

test('the methods that may be called from another platform are those that operations call', () => {
  const folders = new Set(contracts.map(({ folder }) => folder))
  const files = new Set([...folders].flatMap((folder) => bundle(folder).sources))
  const called = [...files].flatMap((path) => {
    const calls = readFileSync(path, 'utf8').matchAll(
      /(?<!wanted\.)\b(custody|mailer|vault)\??\.(\w+)\(/g,
    )
    return [...calls].map(([, to = '', method]) => `${to.toUpperCase()}.${method}`)
  })
  const names = Object.entries(offered).flatMap(([to, methods]) => methods.map((m) => `${to}.${m}`))

  expect([...new Set(called)].toSorted()).toEqual(names.toSorted())
})

test('code that signs, and code that opens envelopes, is in custody alone', () => {
  const files = ['shared/custody/relay-transaction.ts', 'shared/custody/accounts.ts']
  const holders = [...built.values()]
    .filter(({ sources }) => files.some((file) => sources.includes(file)))
    .map(({ folder }) => folder)

  expect(holders).toEqual(['custody'])
})

test('no bundle carries a language of zod but English', () => {
  const languages = [...built.values()]
    .flatMap(({ sources }) => sources)
    .filter((path) => path.includes('/locales/'))

  expect(new Set(languages)).toEqual(new Set(['node_modules/zod/v4/locales/en.js']))
})

test('a build is used again until a file is newer than it, or a module is gone', () => {
  const metafile = join(directory, 'metafile.json')
  const { mtime } = statSync('functions/web/index.ts')

  expect(isUpToDate(directory)).toBe(true)
  utimesSync(metafile, mtime, mtime)
  expect(isUpToDate(directory)).toBe(false)
  utimesSync(metafile, new Date(), new Date())
  rmSync(join(directory, 'web.mjs'))
  expect(isUpToDate(directory)).toBe(false)
})
