/**
 * Records that the vault once stored must open for ever. A twin that shares no code with ours also opens
 * them: OpenSSL's HKDF and ChaCha20-Poly1305, and HChaCha20 written from its draft.
 */
import { hkdfSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { readRoots } from '../../shared/sealing/roots.ts'
import { wrapSchema } from '../../shared/sealing/wrap.ts'
import { newAccountKey, openRecord, readSealed, sealRecord } from '../../shared/vault/envelope.ts'
import vectors from './vault.json' with { type: 'json' }
import { openXChaCha20Poly1305 } from './xchacha-twin.ts'

const content = Buffer.from(vectors.content, 'utf8')

/** Returns bytes that count up instead of random ones, so that a sealed record can be pinned. */
function countingRandom(): (length: number) => Uint8Array {
  let next = 0
  return (length) => Uint8Array.from({ length }, () => next++)
}

function hkdf(secret: Buffer, salt: string, info: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, 32))
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

describe.each(['vault', 'mail'] as const)('a record of purpose %s', (purpose) => {
  const roots = readRoots(JSON.stringify({ 3: vectors.root }), purpose)
  const { wrap, sealed } = vectors[purpose]

  test('is sealed to the same bytes and opens', () => {
    const random = countingRandom()
    const key = newAccountKey(roots, random, vectors.place.account)
    const keys = { roots, wrap: wrapSchema.parse(wrap) }

    expect(key).toEqual(wrap)
    expect(sealRecord(keys, random, vectors.place, content)).toEqual(sealed)
    expect(Buffer.from(openRecord(keys, vectors.place, readSealed(sealed)))).toEqual(content)
  })

  test('opens with OpenSSL and the written format alone', () => {
    const { account, record, version, site } = vectors.place
    const kek = hkdf(Buffer.from(vectors.root, 'base64'), 'aoa/v1', `kek/${purpose}/3`)
    const wrapData = lengthPrefixed(purpose, 'wrap', account, '3')
    const recordData = [purpose, 'record', account, record, String(version), site, '1']

    const accountKey = openXChaCha20Poly1305(kek, wrap.nonce, wrapData, wrap.ciphertext)
    const key = hkdf(accountKey, record, `${purpose}/record/${version}`)
    const data = lengthPrefixed(...recordData)
    const padded = openXChaCha20Poly1305(key, sealed.nonce, data, sealed.ciphertext)

    const prefix = Buffer.alloc(purpose === 'vault' ? 2 : 4)
    prefix[prefix.length - 1] = content.length
    const zeros = Buffer.alloc(256 - prefix.length - content.length)
    expect(padded).toEqual(Buffer.concat([prefix, content, zeros]))
  })
})
