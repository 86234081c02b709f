/** Random inputs of the custody tests. Keys and addresses come from fast-check, so a failure can be replayed. */
import { randomBytes } from 'node:crypto'
import { Wallet } from 'ethers'
import fc from 'fast-check'
import { readRoots } from '../../../shared/custody/roots.ts'

export const random = (length: number) => new Uint8Array(randomBytes(length))

export const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

export const hex = (length: number) =>
  bytes(length).map((value) => `0x${Buffer.from(value).toString('hex')}`)

/** An account as ethers sees it: the independent answer to what key belongs to what address. */
export const wallet = bytes(32)
  .filter((key) => key.some((byte) => byte > 0) && (key[0] ?? 255) < 255)
  .map((key) => ({ key, address: new Wallet(`0x${Buffer.from(key).toString('hex')}`).address }))

export const address = wallet.map((account) => account.address)

export const chainId = fc.integer({ min: 1, max: 2 ** 31 })

export const amountAtomic = fc.bigInt({ min: 1n, max: 2n ** 255n })

export const domain = fc.record({
  name: fc.string({ minLength: 1 }),
  version: fc.string({ minLength: 1 }),
})

export const root = (fill: number) => Buffer.alloc(32, fill).toString('base64')

export const roots = (...versions: number[]) =>
  readRoots(JSON.stringify(Object.fromEntries(versions.map((v) => [v, root(v)]))))

/** Every copy of `original` in which one bit is the other one. */
export function* bitFlips(original: Uint8Array): Generator<Uint8Array> {
  for (let bit = 0; bit < original.length * 8; bit += 1) {
    const flipped = Uint8Array.from(original)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    yield flipped
  }
}
