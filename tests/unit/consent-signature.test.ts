/** ECDSA signatures are accepted only in the one form of DER. */
import { expect, test } from 'vitest'
import { faultOfAssertion } from '../../shared/consent/assertion.ts'
import { challengeFor, libraryAccepts, place, storedOf } from '../support/assertions.ts'
import { openAuthenticator } from '../support/authenticator.ts'

const digest = 'ab'.repeat(32)
const expected = { digest, ...place }
const options = { challenge: challengeFor(digest) }
const passkey = openAuthenticator()

/** Order of the group P-256 (FIPS 186-4, D.1.2.3). */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

function derOf(r: Buffer, s: Buffer): string {
  const part = (bytes: Buffer) => Buffer.concat([Buffer.from([2, bytes.length]), bytes])
  const body = Buffer.concat([part(r), part(s)])
  return Buffer.concat([Buffer.from([0x30, body.length]), body]).toString('base64url')
}

function integersOf(signature: string): { r: Buffer; s: Buffer } {
  const der = Buffer.from(signature, 'base64url')
  const end = 4 + (der[3] ?? 0)
  return { r: der.subarray(4, end), s: der.subarray(end + 2) }
}

function shortest(value: bigint): Buffer {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')
  return (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes
}

test('the other s of a signature is as good, and no other form of it is', async () => {
  // This many rounds produce r and s with and without a sign byte.
  for (let round = 0; round < 12; round += 1) {
    const good = storedOf(passkey.get(options), passkey.key)
    const { r, s } = integersOf(good.signature)
    const number = BigInt(`0x${s.toString('hex')}`)

    const other = { ...good, signature: derOf(r, shortest(order - number)) }
    expect(await faultOfAssertion(other, expected)).toBeUndefined()
    expect(await libraryAccepts(other, expected)).toBe(true)
    for (const signature of otherForms(good.signature, r, s)) {
      expect(await faultOfAssertion({ ...good, signature }, expected), signature).toBe('signature')
    }
  }
})

function otherForms(signature: string, r: Buffer, s: Buffer): string[] {
  const padded = (bytes: Buffer) => Buffer.concat([Buffer.of(0), bytes])
  const fixed = (bytes: Buffer) => Buffer.concat([Buffer.alloc(32), bytes]).subarray(-32)
  const der = Buffer.from(signature, 'base64url')
  return [
    derOf(padded(r), s),
    derOf(r, padded(s)),
    derOf(r, Buffer.alloc(0)),
    derOf(r, Buffer.alloc(1)),
    derOf(Buffer.alloc(1), s),
    derOf(r, shortest(order)),
    derOf(r, shortest(order + BigInt(`0x${s.toString('hex')}`))),
    Buffer.concat([fixed(r), fixed(s)]).toString('base64url'),
    Buffer.concat([Buffer.from([0x30, 0x81]), der.subarray(1)]).toString('base64url'),
    '',
  ]
}
