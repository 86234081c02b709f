import { id } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressOfKey, createAccountKey } from '../../../shared/custody/accounts.ts'
import { authorizationNonce } from '../../../shared/custody/nonce.ts'
import { random } from '../sealing/material.ts'
import { address, chainId, wallet } from './arbitraries.ts'

const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
const fromHex = (text: string) => new Uint8Array(Buffer.from(text, 'hex'))

test('the address of a key is the one that ethers finds', () => {
  const same = fc.property(wallet, ({ key, address }) => addressOfKey(key) === address)

  fc.assert(same, { numRuns: 40 })
})

test('a new account is drawn from the given randomness', () => {
  const drawn = random(32)

  const account = createAccountKey(() => drawn)

  expect(account).toEqual({ address: addressOfKey(drawn), privateKey: drawn })
})

test('draws that are no private key are drawn again, and a random source without any is refused', () => {
  const last = BigInt(`0x${order}`) - 1n
  const draws = [fromHex(order), fromHex(last.toString(16))]

  expect(addressOfKey(createAccountKey(() => draws.shift() ?? random(32)).privateKey)).toMatch(
    /^0x/,
  )
  expect(draws).toHaveLength(0)
  expect(() => createAccountKey((length) => new Uint8Array(length))).toThrow('no private key')
})

test.each([
  ['zero', '00'.repeat(32)],
  ['the order of the curve', order],
  ['31 bytes', '11'.repeat(31)],
  ['33 bytes', '11'.repeat(33)],
])('%s is not a private key', (_, text) => {
  expect(() => addressOfKey(fromHex(text))).toThrow('not a secp256k1 private key')
})

test("a payment's nonce can be repeated from chain, token and payment id", () => {
  const repeated = fc.property(chainId, address, fc.uuid(), (chain, token, paymentId) => {
    const text = `aoa.payment.v1|eip155:${chain}|${token.toLowerCase()}|${paymentId}`
    expect(authorizationNonce({ chainId: chain, token, paymentId })).toBe(id(text))
  })

  fc.assert(repeated, { numRuns: 40 })
})

test('the nonce does not depend on how token and payment id are spelled', () => {
  const token = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
  const paymentId = '0d9f7b52-5c4f-4b7e-9a3e-6f1f0a5b8c21'
  const source = { chainId: 84532, token, paymentId }

  const spelled = { chainId: 84532, token: token.toLowerCase(), paymentId: paymentId.toUpperCase() }

  expect(authorizationNonce(spelled)).toBe(authorizationNonce(source))
  expect(() => authorizationNonce({ ...source, paymentId: `${paymentId}|` })).toThrow('payment id')
  expect(() => authorizationNonce({ ...source, token: `${token}0` })).toThrow('token address')
  expect(() => authorizationNonce({ ...source, chainId: 1.5 })).toThrow('chain id')
})
