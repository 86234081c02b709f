/**
 * Random inputs of the custody tests. fast-check draws keys and addresses, so a failure can be replayed.
 */
import { Wallet } from 'ethers'
import fc from 'fast-check'

export const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

export const hex = (length: number) =>
  bytes(length).map((value) => `0x${Buffer.from(value).toString('hex')}`)

/** Account whose address ethers derives from the key, independently of our code. */
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
