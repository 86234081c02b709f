import { EVM_NETWORK_CHAIN_ID_MAP } from '@x402/evm/v1'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { knownChains } from '../../../shared/chains/registry.ts'
import { readChallenge, readChallengeHeader } from '../../../shared/x402/challenge.ts'
import { textWith } from '../../support/matching.ts'
import * as sample from '../../support/x402.ts'

const { challengeV1, challengeV2, demandIn, headerOf, read, requirementV1, requirementV2 } = sample
const refusal = { refusal: 'invalid_challenge' }

describe('where a challenge stands', () => {
  test('a header is read in either alphabet, with and without padding', () => {
    const value = challengeV2([requirementV2({ extra: { note: '???>>>~~~ü🌍' } })])
    const standard = headerOf(value)
    const urlSafe = Buffer.from(standard, 'base64').toString('base64url')

    const readings = [standard, standard.replaceAll('=', ''), urlSafe, ` ${standard} `]

    expect(readings.map((header) => readChallengeHeader(header))).toEqual(
      readings.map(() => readChallenge(value)),
    )
    expect(read(value).offers).toHaveLength(1)
  })

  test('the header wins over the body', () => {
    const demand = demandIn({ 'payment-required': headerOf(challengeV2()) }, challengeV1())

    expect(demand).toMatchObject({ offers: [{ version: 2 }] })
  })

  test('a header that cannot be read does not hide a body that can', () => {
    const demand = demandIn({ 'payment-required': '%%%' }, challengeV1())
    const neither = demandIn({ 'payment-required': '%%%' }, {})

    expect(demand).toMatchObject({ offers: [{ version: 1 }] })
    expect(neither).toMatchObject({ ...refusal, message: textWith('header') })
  })

  test('without a header both versions are read from the body', () => {
    const readings = [challengeV1(), challengeV2()].map((value) => demandIn({}, value))

    expect(readings).toMatchObject([{ offers: [{ version: 1 }] }, { offers: [{ version: 2 }] }])
  })
})

describe('what an offer says', () => {
  test('both versions give the same offer but for the name of the network', () => {
    const [one] = read(challengeV1()).offers
    const [two] = read(challengeV2()).offers

    const same = { requirement: {}, network: '', version: 0, resource: {} }
    expect({ ...one, ...same }).toEqual({ ...two, ...same })
    expect(two).toMatchObject({
      amountAtomic: 10_000n,
      chain: 'eip155:84532',
      maxTimeoutSeconds: 120,
    })
    expect([one?.network, two?.network]).toEqual(['base-sepolia', 'eip155:84532'])
  })

  test('both styles of network names are understood in both versions', () => {
    const mixed = [
      read(challengeV1([requirementV1({ network: 'eip155:84532' })])),
      read(challengeV2([requirementV2({ network: 'base-sepolia' })])),
    ]

    expect(mixed.map(({ offers }) => offers[0]?.chain)).toEqual(['eip155:84532', 'eip155:84532'])
  })

  test('each official version 1 name of a known network leads to the official chain id', () => {
    const official = Object.entries(EVM_NETWORK_CHAIN_ID_MAP)
    const known = official.filter(([, id]) => knownChains.some((chain) => chain.id === id))

    const mapped = known.map(
      ([network]) => read(challengeV1([requirementV1({ network })])).offers[0]?.chain,
    )

    expect(known.length).toBeGreaterThanOrEqual(5)
    expect(mapped).toEqual(known.map(([, id]) => `eip155:${id}`))
  })

  test('a network that nobody knows is kept by name and belongs to no chain', () => {
    for (const network of [
      'solana',
      'eip155:31337',
      'BASE',
      'eip155:084532',
      '84532',
      '__proto__',
    ]) {
      expect(read(challengeV2([requirementV2({ network })])).offers[0]).toMatchObject({ network })
      expect(read(challengeV2([requirementV2({ network })])).offers[0]?.chain).toBeUndefined()
    }
  })

  test('the requirement is kept value for value, whatever else it carries', () => {
    const key = fc.string({ unit: 'grapheme' }).filter((name) => name !== '__proto__')
    const json = fc.jsonValue({ maxDepth: 3 })
    const name = key.filter((each) => !(each in requirementV2()) && !(each in requirementV1()))
    fc.assert(
      fc.property(fc.dictionary(name, json), fc.dictionary(key, json), (more, extra) => {
        for (const [wrap, requirement] of [
          [challengeV1, requirementV1({ ...more, extra })],
          [challengeV2, requirementV2({ ...more, extra })],
        ] as const) {
          const wire: unknown = JSON.parse(JSON.stringify(requirement))
          const value = readChallenge(wrap([wire]))
          if ('refusal' in value) expect(JSON.stringify(wire)).toMatch(/\\u/)
          else expect(value.offers[0]?.requirement).toEqual(wire)
        }
      }),
    )
  })
})

describe('amounts', () => {
  test.each(['0', '1', '10000', '9'.repeat(78)])('%s is read exactly', (amount) => {
    expect(read(challengeV2([requirementV2({ amount })])).offers[0]?.amountAtomic).toBe(
      BigInt(amount),
    )
  })

  test.each([
    '',
    ' 1',
    '1 ',
    '+1',
    '-1',
    '01',
    '1.0',
    '1e3',
    '0x10',
    '1_000',
    '٣',
    '9'.repeat(79),
    'Infinity',
    10_000,
    null,
    ['1'],
    {},
  ])('%j is no amount', (amount) => {
    expect(readChallenge(challengeV2([requirementV2({ amount })]))).toMatchObject(refusal)
    expect(
      readChallenge(challengeV1([requirementV1({ maxAmountRequired: amount })])),
    ).toMatchObject(refusal)
  })

  test('an offer that names two different prices is not read', () => {
    const torn = { amount: '1', maxAmountRequired: '1000000' }

    expect(readChallenge(challengeV2([requirementV2(torn)]))).toMatchObject(refusal)
    expect(readChallenge(challengeV1([requirementV1(torn)]))).toMatchObject(refusal)
  })
})

describe('what is refused', () => {
  test.each([
    ['nothing', undefined],
    ['null', null],
    ['text', 'x402'],
    ['a list', [challengeV2()]],
    ['no version', challengeV2(undefined, { x402Version: undefined })],
    ['version 3', challengeV2(undefined, { x402Version: 3 })],
    ['a version as text', challengeV2(undefined, { x402Version: '2' })],
    ['no accepts', challengeV2(undefined, { accepts: undefined })],
    ['empty accepts', challengeV2([])],
    ['accepts that is an object', challengeV2({ 0: requirementV2() })],
    ['33 offers', challengeV2(Array.from({ length: 33 }, () => requirementV2()))],
    ['more than 64 KB', challengeV2(undefined, { extensions: { a: 'x'.repeat(65_536) } })],
    ['NUL', challengeV2(undefined, { resource: { url: 'https://merchant.com/\0' } })],
    ['half a surrogate pair', challengeV2(undefined, { extensions: { '\ud83c': 1 } })],
    ['offers without a payee', challengeV2([requirementV2({ payTo: undefined })])],
    ['an endless scheme name', challengeV2([requirementV2({ scheme: 'x'.repeat(257) })])],
    ['a timeout of zero', challengeV2([requirementV2({ maxTimeoutSeconds: 0 })])],
    ['half a second', challengeV2([requirementV2({ maxTimeoutSeconds: 0.5 })])],
    ['a timeout as text', challengeV2([requirementV2({ maxTimeoutSeconds: '60' })])],
    ['extra as a list', challengeV2([requirementV2({ extra: [] })])],
  ])('%s', (_, value) => {
    expect(readChallenge(value)).toMatchObject(refusal)
  })

  test('nesting that would exhaust a call stack', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(30_000)}${']'.repeat(30_000)}`)

    expect(readChallenge(challengeV2(undefined, { extensions: deep }))).toMatchObject(refusal)
  })

  test('a header that is too long, no base64, or no JSON', () => {
    const long = headerOf(challengeV2(undefined, { extensions: { a: 'x'.repeat(26_000) } }))
    for (const header of [long, '', '{}', headerOf({}).slice(1), 'bm8=', '////']) {
      expect(readChallengeHeader(header)).toMatchObject(refusal)
    }
  })

  test('any value at all is a challenge or a refusal, never an exception', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.string(), (value, entry, header) => {
        expect(readChallenge(value)).toBeTypeOf('object')
        expect(readChallenge(challengeV2([entry]))).toBeTypeOf('object')
        expect(readChallengeHeader(header)).toMatchObject(refusal)
      }),
    )
  })
})

test('an offer that cannot be read does not take the readable ones with it', () => {
  const accepts = [null, requirementV2({ amount: '-1' }), requirementV2({ amount: '7' })]

  expect(read(challengeV2(accepts)).offers.map(({ amountAtomic }) => amountAtomic)).toEqual([7n])
})

test("a server's own words are cut to size and stay storable", () => {
  const error = `${'x'.repeat(255)}🌍`

  const { error: kept } = read(challengeV2(undefined, { error }))

  expect(kept).toBe(`${'x'.repeat(255)}\ufffd`)
  expect(read(challengeV2(undefined, { error: { code: 1 } })).error).toBeUndefined()
})
