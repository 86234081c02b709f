import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const folder = new URL('../../../shared/custody/', import.meta.url)
const sources = readdirSync(folder)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }))

/** Returns the names that the folder imports from a package. */
function importedFrom(vendor: string): string[] {
  const statement = new RegExp(`import \\{([^}]*)\\} from '${vendor}'`, 'g')
  return sources.flatMap(({ text }) =>
    [...text.matchAll(statement)].flatMap(([, names = '']) =>
      names.split(',').flatMap((name) => name.trim() || []),
    ),
  )
}

test('custody signs typed data and transactions, and digests only to compare', () => {
  const signing = ['privateKeyToAddress', 'sign', 'signTransaction', 'signTypedData']

  expect([...new Set(importedFrom('viem/accounts'))].sort()).toEqual(signing)
  expect(importedFrom('viem').filter((name) => /sign|account/i.test(name))).toEqual([])
})

test('each form that is signed has one file, and transactions have theirs', () => {
  const signers = (word: string) =>
    sources.filter(({ text }) => new RegExp(`\\b${word}\\(\\{`).test(text)).map(({ name }) => name)

  expect(signers('signTypedData')).toEqual(['authorization.ts', 'permit2.ts'])
  expect(signers('signTransaction')).toEqual(['relay-transaction.ts'])
  expect(signers('sign')).toEqual(['read-back.ts'])
  const readBack = sources.find(({ name }) => name === 'read-back.ts')?.text ?? ''
  expect(readBack).toMatch(/requireSigned\([^)]*\): Promise<void>/)
})

test('no other package that knows elliptic curves comes in', () => {
  const vendors = sources.flatMap(({ text }) =>
    [...text.matchAll(/from '([^.'][^']*)'/g)].map(([, vendor = '']) => vendor),
  )
  const allowed =
    /^(viem|viem\/accounts|zod|@noble\/(ciphers\/chacha|hashes\/(hkdf|sha2|sha3|utils))\.js)$/

  expect(vendors.filter((vendor) => !allowed.test(vendor))).toEqual([])
})
