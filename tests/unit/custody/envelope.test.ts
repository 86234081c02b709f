import { Wallet } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Envelope,
  openKey,
  readEnvelope,
  sealKey,
  withKey,
} from '../../../shared/custody/accounts.ts'
import { rewrapKey } from '../../../shared/sealing/wrap.ts'
import { bitFlips, random, rootsOf } from '../sealing/material.ts'
import { wallet } from './arbitraries.ts'

const roots = (...versions: number[]) => rootsOf('custody', ...versions)
const privateKey = new Uint8Array(32).fill(0x11)
const { address } = new Wallet(`0x${'11'.repeat(32)}`)
const binding = { account: '3a0c0b1e-7d0b-4a64-9a57-0d1b0d0a6d01', address }
const sealed = (versions = [1]) => sealKey(roots(...versions), random, binding, privateKey)

/** Base64 fields of an envelope, each with a getter and a setter. */
const fields: [string, (e: Envelope) => string, (e: Envelope, text: string) => Envelope][] = [
  ['nonce', (e) => e.nonce, (e, nonce) => ({ ...e, nonce })],
  ['ciphertext', (e) => e.ciphertext, (e, ciphertext) => ({ ...e, ciphertext })],
  ['wrap nonce', (e) => e.wrap.nonce, (e, nonce) => ({ ...e, wrap: { ...e.wrap, nonce } })],
  [
    'wrap ciphertext',
    (e) => e.wrap.ciphertext,
    (e, ciphertext) => ({ ...e, wrap: { ...e.wrap, ciphertext } }),
  ],
]

test('any key opens from its envelope after a trip through JSON, for an address in either case', () => {
  const opens = fc.property(
    wallet,
    fc.string({ unit: 'grapheme' }),
    ({ key, address }, account) => {
      const stored = JSON.stringify(sealKey(roots(1), random, { account, address }, key))
      const lowerCase = { account, address: address.toLowerCase() }
      expect(openKey(roots(1), lowerCase, readEnvelope(JSON.parse(stored)))).toEqual(key)
    },
  )

  fc.assert(opens, { numRuns: 40 })
})

test("an envelope opens neither for another account or address nor as the relayer's", () => {
  const envelope = sealed()
  const other = new Wallet(`0x${'22'.repeat(32)}`).address

  for (const moved of [
    { account: 'relayer' },
    { account: `${binding.account} ` },
    { address: other },
  ]) {
    expect(() => openKey(roots(1), { ...binding, ...moved }, envelope)).toThrow('invalid tag')
  }
})

test('parts of two envelopes of one account do not mix', () => {
  const [envelope, other] = [sealed(), sealed()]

  for (const [, read, write] of fields) {
    expect(() => openKey(roots(1), binding, write(envelope, read(other)))).toThrow('invalid tag')
  }
})

test.each(fields)('no single changed bit of the %s goes unnoticed', (_, read, write) => {
  const envelope = sealed()
  const opened = []

  for (const flipped of bitFlips(new Uint8Array(Buffer.from(read(envelope), 'base64')))) {
    const text = Buffer.from(flipped).toString('base64')
    try {
      opened.push(openKey(roots(1), binding, write(envelope, text)))
    } catch {}
  }

  expect(opened).toEqual([])
})

test.each(fields)('a %s of another length or alphabet is refused', (_, read, write) => {
  const envelope = sealed()
  const text = read(envelope)

  for (const changed of [
    '',
    text.slice(4),
    `${text}AAAA`,
    `${text.slice(1)}-`,
    `${text.slice(1)} `,
  ]) {
    expect(() => openKey(roots(1), binding, write(envelope, changed))).toThrow('in base64')
  }
})

test('another version of the record or of the root is refused', () => {
  const envelope = sealed()
  const wrapped = (kekVersion: number) => ({ ...envelope, wrap: { ...envelope.wrap, kekVersion } })

  expect(() => readEnvelope({ ...envelope, version: 2 })).toThrow()
  expect(() => readEnvelope({ ...envelope, more: true })).toThrow()
  expect(() => openKey(roots(1, 2), binding, wrapped(2))).toThrow('invalid tag')
  expect(() => openKey(roots(1), binding, wrapped(2))).toThrow('no root of version 2')
})

test('a rotation moves the wrap to another root and leaves the sealed key alone', () => {
  const before = sealed([1])

  const wrap = rewrapKey(roots(1, 2), random, binding.account, before.wrap)

  expect(openKey(roots(2), binding, { ...before, wrap })).toEqual(privateKey)
  expect(() => openKey(roots(2), binding, before)).toThrow('no root of version 1')
})

test('a rotation for the wrong account is refused', () => {
  const move = () => rewrapKey(roots(1, 2), random, 'relayer', sealed([1]).wrap)

  expect(move).toThrow('invalid tag')
})

test('a key is never sealed for an address that it does not move', () => {
  const other = { ...binding, address: new Wallet(`0x${'22'.repeat(32)}`).address }

  expect(() => sealKey(roots(1), random, other, privateKey)).toThrow('not that of the key')
})

test('a lent key is all zeros once its use has ended, well or badly', async () => {
  const lent: Uint8Array[] = []
  const use = (fails: boolean) =>
    withKey(roots(1), binding, sealed(), async (key) => {
      lent.push(key)
      expect(key).toEqual(privateKey)
      await Promise.resolve()
      if (fails) throw new Error('refused')
    })

  await use(false)
  await expect(use(true)).rejects.toThrow('refused')

  expect(lent).toEqual([new Uint8Array(32), new Uint8Array(32)])
})

test('data keys and key-encryption keys are zeros after sealing and opening', () => {
  const secrets: Uint8Array[] = []
  const remember = (secret: Uint8Array) => {
    secrets.push(secret)
    return secret
  }
  const watched = { ...roots(1), kek: (version: number) => remember(roots(1).kek(version)) }
  const draw = (length: number) => (length === 32 ? remember(random(length)) : random(length))

  openKey(watched, binding, sealKey(watched, draw, binding, privateKey))

  expect(secrets).toEqual([new Uint8Array(32), new Uint8Array(32), new Uint8Array(32)])
})
