/** Our second verifier of assertions agrees with the library, and rejects every forgery. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { faultOfAssertion, type StoredAssertion } from '../../shared/consent/assertion.ts'
import {
  authenticatorData,
  challengeFor,
  libraryAccepts,
  place,
  signedBy,
  storedOf,
} from '../support/assertions.ts'
import { openAuthenticator } from '../support/authenticator.ts'
import { casesOf } from '../support/cases.ts'
import { openPasskeyKey, type PasskeyAlgorithm } from '../support/passkey-key.ts'

const digest = 'ab'.repeat(32)
const expected = { digest, ...place }
const options = { challenge: challengeFor(digest) }
const algorithms: PasskeyAlgorithm[] = ['ES256', 'EdDSA', 'RS256']
const passkeys = new Map(algorithms.map((name) => [name, openAuthenticator(name)] as const))

function passkeyOf(algorithm: PasskeyAlgorithm) {
  const passkey = passkeys.get(algorithm)
  if (!passkey) throw new Error(`no passkey of ${algorithm}`)
  return passkey
}

/** Returns both verdicts: the fault that our verifier names, and true if the library accepts. */
async function verdicts(stored: StoredAssertion, wanted = expected) {
  const [ours, library] = [faultOfAssertion(stored, wanted), libraryAccepts(stored, wanted)]
  return { ours: await ours, library: await library }
}

const accepted = { ours: undefined, library: true }

describe.each(algorithms)('a passkey of %s', (algorithm) => {
  const passkey = passkeyOf(algorithm)
  const { key } = passkey

  test('is taken over the terms by both verifiers, with and without extensions', async () => {
    const extension = Buffer.from('a16b6372656450726f7465637402', 'hex')
    const faults = [{}, { flipFlags: 0x18 }, { flipFlags: 0x80, extra: extension }]
    for (const fault of faults) {
      expect(await verdicts(storedOf(passkey.get(options, fault), key))).toEqual(accepted)
    }
    const whole = { clientData: { crossOrigin: undefined, other_keys: 'are ignored' } }
    expect(await verdicts(storedOf(passkey.get(options, whole), key))).toEqual(accepted)
  })

  test('proves nothing once a byte of anything is changed, added or missing', async () => {
    const good = storedOf(passkey.get(options), key)
    const fields = ['public_key', 'client_data', 'authenticator_data', 'signature'] as const
    const mutation = fc.record({
      field: fc.constantFrom(...fields),
      how: fc.constantFrom('flip', 'drop', 'add', 'cut', 'append'),
      at: fc.nat(600),
      byte: fc.integer({ min: 1, max: 255 }),
    })
    const refused = fc.asyncProperty(mutation, async ({ field, how, at, byte }) => {
      const bytes = [...Buffer.from(good[field], 'base64url')]
      const place = at % bytes.length
      if (how === 'flip') bytes[place] = (bytes[place] ?? 0) ^ byte
      if (how === 'drop') bytes.splice(place, 1)
      if (how === 'add') bytes.splice(place, 0, byte)
      if (how === 'cut') bytes.length = place
      if (how === 'append') bytes.push(byte)
      const changed = { ...good, [field]: Buffer.from(bytes).toString('base64url') }
      expect(await faultOfAssertion(changed, expected)).toBeDefined()
    })
    await fc.assert(refused, { numRuns: casesOf(1_500) })
  })

  test('by another key of the same kind proves nothing', async () => {
    const other = openPasskeyKey(algorithm).cose.toString('base64url')
    const stored = { ...storedOf(passkey.get(options), key), public_key: other }
    expect(await verdicts(stored)).toEqual({ ours: 'signature', library: false })
  })
})

const passkey = passkeyOf('ES256')
const { key } = passkey

test.each([
  ['another origin', { origin: 'http://evil.example' }, 'origin'],
  ['another port', { origin: 'http://localhost:81' }, 'origin'],
  ['the origin with a slash', { origin: 'http://localhost/' }, 'origin'],
  ['another host', { host: 'evil.example' }, 'rp_id'],
  ['a host above', { host: 'example' }, 'rp_id'],
  ['no user verification', { isUserVerified: false }, 'user_verification'],
  ['nobody present', { flipFlags: 0x01 }, 'user_presence'],
  ['a backup of what has none', { flipFlags: 0x10 }, 'authenticator_data'],
  ['a new passkey', { clientData: { type: 'webauthn.create' } }, 'type'],
  ['a payment of the browser', { clientData: { type: 'payment.get' } }, 'type'],
  ['another challenge', { challenge: challengeFor('ac'.repeat(32)) }, 'challenge'],
  ['the challenge in padding', { challenge: `${challengeFor(digest)}=` }, 'challenge'],
  ['the digest as text', { challenge: Buffer.from(digest).toString('base64url') }, 'challenge'],
  ['no challenge', { clientData: { challenge: undefined } }, 'challenge'],
  [
    'a frame of another site',
    { clientData: { crossOrigin: true, topOrigin: 'http://evil.example' } },
    'cross_origin',
  ],
  ['a site above', { clientData: { topOrigin: 'http://evil.example' } }, 'cross_origin'],
  ['extensions that are not there', { flipFlags: 0x80 }, 'authenticator_data'],
  ['bytes behind', { extra: Buffer.alloc(1) }, 'authenticator_data'],
  [
    'bytes behind the extensions',
    { flipFlags: 0x80, extra: Buffer.from('a000', 'hex') },
    'authenticator_data',
  ],
  [
    'a length written too long',
    { flipFlags: 0x80, extra: Buffer.from('b800', 'hex') },
    'authenticator_data',
  ],
])('%s is refused by both verifiers', async (_name, fault, ours) => {
  const stored = storedOf(passkey.get(options, fault), key)
  expect(await verdicts(stored)).toEqual({ ours, library: false })
})

const clientData = { type: 'webauthn.get', challenge: options.challenge, origin: place.origin }
const clientBytes = (data: unknown) => Buffer.from(JSON.stringify(data))
const present = authenticatorData('localhost', 0x05)

const { key: rsa } = passkeyOf('RS256')

function withKey(cose: Buffer): StoredAssertion {
  const stored = signedBy(key, clientBytes(clientData), present)
  return { ...stored, public_key: cose.toString('base64url') }
}

test.each<[string, StoredAssertion, string]>([
  [
    'a frame that does not say whose',
    signedBy(key, clientBytes({ ...clientData, crossOrigin: true }), present),
    'cross_origin',
  ],
  [
    'an empty site above',
    signedBy(key, clientBytes({ ...clientData, topOrigin: '' }), present),
    'cross_origin',
  ],
  [
    'crossOrigin that is no yes or no',
    signedBy(key, clientBytes({ ...clientData, crossOrigin: 0 }), present),
    'cross_origin',
  ],
  [
    'token binding',
    signedBy(key, clientBytes({ ...clientData, tokenBinding: { status: 'supported' } }), present),
    'client_data',
  ],
  [
    'client data behind a byte order mark',
    signedBy(key, Buffer.concat([Buffer.from('efbbbf', 'hex'), clientBytes(clientData)]), present),
    'client_data',
  ],
  [
    'client data that is no UTF-8',
    signedBy(
      key,
      Buffer.concat([
        clientBytes(clientData).subarray(0, -1),
        Buffer.from(',"x":"\xff"}', 'latin1'),
      ]),
      present,
    ),
    'client_data',
  ],
  ['a key with bytes behind it', withKey(Buffer.concat([key.cose, Buffer.of(0)])), 'signature'],
  [
    'a key with one more parameter',
    withKey(Buffer.concat([Buffer.of(0xa6), key.cose.subarray(1), Buffer.from('048102', 'hex')])),
    'signature',
  ],
  [
    'a modulus with a zero in front',
    {
      ...signedBy(rsa, clientBytes(clientData), present),
      public_key: Buffer.from(
        rsa.cose.toString('hex').replace('20590100', '2059010100'),
        'hex',
      ).toString('base64url'),
    },
    'signature',
  ],
  [
    'a key with a length written too long',
    withKey(Buffer.from(key.cose.toString('hex').replace('215820', '21590020'), 'hex')),
    'signature',
  ],
  [
    'a key in padded base64',
    {
      ...signedBy(key, clientBytes(clientData), present),
      public_key: `${key.cose.toString('base64url')}=`,
    },
    'encoding',
  ],
])('%s is refused here, though the library takes it', async (_name, stored, ours) => {
  expect(await verdicts(stored)).toEqual({ ours, library: true })
})

test('whatever is signed right and taken here, the library takes too', async () => {
  const strange = fc.constantFrom<unknown>(
    undefined,
    undefined,
    false,
    null,
    true,
    false,
    '',
    0,
    'x',
    {},
    [],
  )
  const members = fc.record(
    {
      crossOrigin: strange,
      topOrigin: strange,
      tokenBinding: strange,
      extra: strange,
    },
    { requiredKeys: [] },
  )
  const tail = fc.oneof(
    fc.constant(new Uint8Array()),
    fc.uint8Array({ maxLength: 12 }),
    fc
      .constantFrom(
        'a0',
        'a1616101',
        'a1f5f4',
        'bf616101ff',
        'a2616101616102',
        'a16161f97c00',
        '80',
      )
      .map((hex) => Buffer.from(hex, 'hex')),
  )
  const flags = fc.oneof(fc.nat(255), fc.constantFrom(0, 0x18, 0x80))
  let taken = 0
  const stricter = fc.asyncProperty(flags, tail, members, async (set, extra, more) => {
    const data = authenticatorData('localhost', set | 0x05, extra)
    const stored = signedBy(key, clientBytes({ ...clientData, ...more }), data)
    const { ours, library } = await verdicts(stored)
    taken += ours === undefined ? 1 : 0
    expect(ours !== undefined || library).toBe(true)
  })

  await fc.assert(stricter, { numRuns: 8_000 })

  expect(taken).toBeGreaterThan(20)
})
