import { expect, test } from 'vitest'
import { rewrapKey, unwrapKey, useThenWipe, wrapKey } from '../../../shared/sealing/wrap.ts'
import { bitFlips, random, rootsOf } from './material.ts'

const roots = rootsOf('vault', 1)
const account = '3a0c0b1e-7d0b-4a64-9a57-0d1b0d0a6d01'
const key = random(32)
const wrap = wrapKey(roots, random, account, key)

test('a wrapped key is for its account and its purpose alone', () => {
  expect(unwrapKey(roots, account, wrap)).toEqual(key)
  expect(() => unwrapKey(roots, `${account}0`, wrap)).toThrow('invalid tag')
  expect(() => unwrapKey(rootsOf('mail', 1), account, wrap)).toThrow('invalid tag')
  expect(() => unwrapKey(rootsOf('custody', 1), account, wrap)).toThrow('invalid tag')
})

test('no single changed bit of a wrap goes unnoticed', () => {
  const opened: Uint8Array[] = []
  for (const field of ['nonce', 'ciphertext'] as const) {
    for (const flipped of bitFlips(Buffer.from(wrap[field], 'base64'))) {
      const changed = { ...wrap, [field]: Buffer.from(flipped).toString('base64') }
      expect(() => opened.push(unwrapKey(roots, account, changed))).toThrow('invalid tag')
    }
  }

  expect(opened).toEqual([])
})

test('a rotation keeps the key and leaves the old root without use', () => {
  const both = rootsOf('vault', 1, 2)
  const moved = rewrapKey(both, random, account, wrap)

  expect(moved.kekVersion).toBe(2)
  expect(unwrapKey(rootsOf('vault', 2), account, moved)).toEqual(key)
  expect(rewrapKey(both, random, account, moved)).toBe(moved)
  expect(() => rewrapKey(both, random, 'another', wrap)).toThrow('invalid tag')
})

test('a key of another length is not wrapped', () => {
  expect(() => wrapKey(roots, random, account, random(31))).toThrow('32 bytes')
})

test('lent bytes are zeros afterwards, also when their use fails', () => {
  const lent = random(32)
  const use = () =>
    useThenWipe(lent, () => {
      throw new Error('refused')
    })

  expect(use).toThrow('refused')
  expect(lent).toEqual(new Uint8Array(32))
})
