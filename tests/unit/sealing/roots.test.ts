import { hkdfSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { MissingRootError, readRoots } from '../../../shared/sealing/roots.ts'
import { root } from './material.ts'

test('the highest version seals and the key of each is HKDF-SHA256 as OpenSSL computes it', () => {
  const roots = readRoots(JSON.stringify({ 2: root(2), 10: root(10), 1: root(1) }), 'custody')

  expect(roots.sealingVersion).toBe(10)
  expect(roots.versions).toEqual([1, 2, 10])
  for (const version of [1, 2, 10]) {
    const secret = Buffer.alloc(32, version)
    const expected = hkdfSync('sha256', secret, 'aoa/v1', `kek/custody/${version}`, 32)
    expect(roots.kek(version)).toEqual(new Uint8Array(expected))
  }
})

test('a key that was zeroed after use is there again for the next', () => {
  const roots = readRoots(JSON.stringify({ 1: root(1) }), 'custody')
  const first = roots.kek(1)
  const copy = Uint8Array.from(first)

  first.fill(0)

  expect(roots.kek(1)).toEqual(copy)
})

test('a new root opens before it seals, and an old one after', () => {
  const known = { 1: root(1), 2: root(2) }

  const before = readRoots(JSON.stringify({ ...known, sealing: 1 }), 'custody')
  const after = readRoots(JSON.stringify({ sealing: 2, ...known }), 'custody')

  expect([before.sealingVersion, after.sealingVersion]).toEqual([1, 2])
  expect([before.versions, after.versions]).toEqual([
    [1, 2],
    [1, 2],
  ])
  expect(before.kek(2)).toEqual(after.kek(2))
})

test('a version without a root is refused', () => {
  const roots = readRoots(JSON.stringify({ 1: root(1) }), 'custody')

  expect(() => roots.kek(2)).toThrow(MissingRootError)
  expect(() => roots.kek(2)).toThrow('custody has no root of version 2')
})

test.each([
  ['not JSON', `{"1": ${root(7)}`],
  ['a list', JSON.stringify([root(7)])],
  ['no root', '{}'],
  ['version 0', JSON.stringify({ 0: root(7) })],
  ['a version with a leading zero', JSON.stringify({ '01': root(7) })],
  ['31 bytes', JSON.stringify({ 1: Buffer.alloc(31, 7).toString('base64') })],
  ['33 bytes', JSON.stringify({ 1: Buffer.alloc(33, 7).toString('base64') })],
  ['base64 that is not canonical', JSON.stringify({ 1: root(7).replace('c=', 'd=') })],
  ['one secret under two versions', JSON.stringify({ 1: root(7), 2: root(7) })],
  ['sealing under a root that is not there', JSON.stringify({ 1: root(7), sealing: 2 })],
  ['sealing under a version in words', JSON.stringify({ 1: root(7), sealing: '1' })],
  ['sealing and no root', JSON.stringify({ sealing: 1 })],
  ['an endless text', JSON.stringify({ 1: root(7) + ' '.repeat(20_000) })],
])('%s is refused without a word of the secret', (_, text) => {
  let refusal = ''
  try {
    readRoots(text, 'custody')
  } catch (error) {
    refusal = String(error)
  }

  expect(refusal).toMatch(/custody|base64/)
  expect(refusal).not.toContain(root(7).slice(0, 4))
})

test('printing or serializing roots shows no secret', () => {
  const roots = readRoots(JSON.stringify({ 1: root(7) }), 'custody')

  expect(JSON.stringify(roots)).toBe('{"purpose":"custody","sealingVersion":1,"versions":[1]}')
})

test('one secret gives each purpose a key of its own', () => {
  const keys = (['custody', 'vault', 'mail'] as const).map((purpose) =>
    Buffer.from(readRoots(JSON.stringify({ 1: root(7) }), purpose).kek(1)).toString('hex'),
  )

  expect(new Set(keys).size).toBe(3)
})
