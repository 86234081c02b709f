/**
 * Keys and signatures that custody once made must open and come out the same for ever. A twin that
 * shares no code with ours also opens the envelope: OpenSSL's HKDF and ChaCha20-Poly1305, and HChaCha20
 * written from its draft.
 */
import { hkdfSync } from 'node:crypto'
import { Transaction } from 'ethers'
import { expect, test } from 'vitest'
import { addressOfKey, openKey, readEnvelope, sealKey } from '../../shared/custody/accounts.ts'
import { signAuthorization } from '../../shared/custody/authorization.ts'
import { authorizationNonce } from '../../shared/custody/nonce.ts'
import { signRelay } from '../../shared/custody/relay-transaction.ts'
import { readRoots } from '../../shared/sealing/roots.ts'
import vectors from './custody.json' with { type: 'json' }
import { openXChaCha20Poly1305 } from './xchacha-twin.ts'

const key = new Uint8Array(Buffer.from(vectors.key, 'hex'))
const rootSecret = Buffer.from(vectors.root, 'base64')
const roots = readRoots(JSON.stringify({ 3: vectors.root }), 'custody')
const binding = { account: vectors.account, address: vectors.address }
const { chainId, token, paymentId } = vectors.payment

const slot = {
  chainId,
  token,
  nonce: vectors.slot.nonce,
  maxFeePerGas: BigInt(vectors.slot.maxFeePerGas),
  maxPriorityFeePerGas: BigInt(vectors.slot.maxPriorityFeePerGas),
}
const terms = {
  chainId,
  token,
  domain: vectors.payment.domain,
  from: vectors.address,
  to: vectors.payment.to,
  valueAtomic: BigInt(vectors.payment.value),
  validAfter: vectors.payment.validAfter,
  validBefore: vectors.payment.validBefore,
  nonce: vectors.authorization.nonce,
}

/** Returns bytes that count up instead of random ones, so that a sealed envelope can be pinned. */
function countingRandom(): (length: number) => Uint8Array {
  let next = 0
  return (length) => Uint8Array.from({ length }, () => next++)
}

test('the key has its address and the payment its nonce', () => {
  expect(addressOfKey(key)).toBe(vectors.address)
  expect(authorizationNonce({ chainId, token, paymentId })).toBe(vectors.authorization.nonce)
})

test('the authorization is signed to the same bytes', async () => {
  expect(await signAuthorization(key, terms)).toEqual(vectors.authorization)
})

test('the relay is signed to the same bytes', async () => {
  const { token: _, ...transactionSlot } = slot
  const authorization = vectors.authorization
  const calls = [{ token, authorization }]
  const relay = await signRelay(key, { ...transactionSlot, gasPayer: vectors.address, calls })

  expect(relay).toEqual(vectors.relay)
  expect(Transaction.from(vectors.relay.raw).hash).toBe(vectors.relay.hash)
})

test('the envelope is sealed to the same bytes and opens', () => {
  expect(sealKey(roots, countingRandom(), binding, key)).toEqual(vectors.envelope)
  expect(openKey(roots, binding, readEnvelope(vectors.envelope))).toEqual(key)
})

test('the envelope opens with OpenSSL and the written format alone', () => {
  const { wrap, nonce, ciphertext } = vectors.envelope
  const kek = hkdf(rootSecret, Buffer.from(`kek/custody/${wrap.kekVersion}`))
  const wrapData = lengthPrefixed('custody', 'wrap', vectors.account, String(wrap.kekVersion))
  const address = vectors.address.toLowerCase()
  const recordData = lengthPrefixed('custody', 'record', vectors.account, 'evm', address, '1')

  const dataKey = openXChaCha20Poly1305(kek, wrap.nonce, wrapData, wrap.ciphertext)
  const opened = openXChaCha20Poly1305(hkdf(dataKey, recordData), nonce, recordData, ciphertext)

  expect(opened.toString('hex')).toBe(vectors.key)
})

function hkdf(secret: Buffer, info: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'aoa/v1', info, 32))
}

function lengthPrefixed(...fields: string[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(Buffer.byteLength(field))
      return [length, Buffer.from(field)]
    }),
  )
}
