import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rewrapKey, wrapKey } from '../../../shared/sealing/wrap.ts'
import {
  newAccountKey,
  openRecord,
  readSealed,
  sealRecord,
} from '../../../shared/vault/envelope.ts'
import { bitFlips, random, rootsOf } from '../sealing/material.ts'

const account = '3a0c0b1e-7d0b-4a64-9a57-0d1b0d0a6d01'
const record = '6b0e6f0e-0f43-4d4f-9d0f-3c9f6a6c0d11'
const place = { account, record, version: 3, site: 'https://shop.example.com' }
const accountKey = random(32)
const keysOf = (purpose: 'vault' | 'mail', owner = account) => {
  const roots = rootsOf(purpose, 1)
  return { roots, wrap: wrapKey(roots, random, owner, accountKey) }
}
const keys = keysOf('vault')
const content = new TextEncoder().encode('{"password":"correct horse"}')
const sealed = sealRecord(keys, random, place, content)

test('bytes of any length come back after a trip through JSON, in the vault and in the mail', () => {
  const opens = fc.property(
    fc.constantFrom('vault' as const, 'mail' as const),
    fc.uint8Array({ maxLength: 3000 }),
    (purpose, bytes) => {
      const stored = JSON.stringify(sealRecord(keysOf(purpose), random, place, bytes))
      expect(openRecord(keysOf(purpose), place, readSealed(JSON.parse(stored)))).toEqual(bytes)
    },
  )

  fc.assert(opens, { numRuns: 60 })
})

test.each([
  ['record', { record: '6b0e6f0e-0f43-4d4f-9d0f-3c9f6a6c0d12' }],
  ['earlier version', { version: 2 }],
  ['later version', { version: 4 }],
  ['site', { site: 'https://shop.example.com.evil.example' }],
  ['site of no name', { site: '' }],
  ['split of the same characters', { record: `${record}3`, version: 0 }],
])('a record does not open at another %s, under the same account key', (_, moved) => {
  expect(() => openRecord(keys, { ...place, ...moved }, sealed)).toThrow('invalid tag')
})

test('a record does not open for another account, whoever holds its key', () => {
  const other = '3a0c0b1e-7d0b-4a64-9a57-0d1b0d0a6d02'
  const elsewhere = { ...place, account: other }

  expect(() => openRecord(keys, elsewhere, sealed)).toThrow('invalid tag')
  expect(() => openRecord(keysOf('vault', other), elsewhere, sealed)).toThrow('invalid tag')
  expect(() => openRecord(keysOf('vault', other), place, sealed)).toThrow('invalid tag')
})

test('a record of the vault is no mail and a mail no record of the vault, under one key', () => {
  const mail = sealRecord(keysOf('mail'), random, place, content)

  expect(() => openRecord(keysOf('mail'), place, sealed)).toThrow('invalid tag')
  expect(() => openRecord(keysOf('vault'), place, mail)).toThrow('invalid tag')
})

test('the key of another account of the same root does not open a record', () => {
  const wrap = newAccountKey(keys.roots, random, account)

  expect(() => openRecord({ ...keys, wrap }, place, sealed)).toThrow('invalid tag')
})

test('no single changed bit of a record goes unnoticed', () => {
  const opened: Uint8Array[] = []
  for (const field of ['nonce', 'ciphertext'] as const) {
    for (const flipped of bitFlips(Buffer.from(sealed[field], 'base64'))) {
      const changed = { ...sealed, [field]: Buffer.from(flipped).toString('base64') }
      expect(() => opened.push(openRecord(keys, place, changed))).toThrow('invalid tag')
    }
  }

  expect(opened).toEqual([])
})

test('parts of two records of one place do not mix, and other shapes are refused', () => {
  const again = sealRecord(keys, random, place, content)

  expect(() => openRecord(keys, place, { ...sealed, nonce: again.nonce })).toThrow('invalid tag')
  expect(() => readSealed({ ...sealed, version: 2 })).toThrow()
  expect(() => readSealed({ ...sealed, more: 1 })).toThrow()
  expect(() => openRecord(keys, place, { ...sealed, ciphertext: '?' })).toThrow('base64')
})

test('a rotation of the account key leaves its records as they are and readable', () => {
  const both = rootsOf('vault', 1, 2)
  const wrap = rewrapKey(both, random, account, keys.wrap)

  expect(openRecord({ roots: rootsOf('vault', 2), wrap }, place, sealed)).toEqual(content)
})

test('the length shows in steps: 256 bytes, then whole kilobytes', () => {
  const lengthOf = (bytes: number) =>
    Buffer.from(sealRecord(keys, random, place, random(bytes)).ciphertext, 'base64').length - 16

  expect([0, 1, 254, 255, 1022, 1023, 65_535].map(lengthOf)).toEqual([
    256, 256, 256, 1024, 1024, 2048, 66_560,
  ])
  expect(() => lengthOf(65_536)).toThrow('too long')
})

test('a key of custody seals no record', () => {
  const roots = rootsOf('custody', 1)
  const wrap = wrapKey(roots, random, account, accountKey)

  expect(() => sealRecord({ roots, wrap }, random, place, content)).toThrow('custody alone')
})
