import fc from 'fast-check'
import { Challenge } from 'mppx'
import { describe, expect, test } from 'vitest'
import { readAuthChallenges } from '../../../shared/x402/mpp.ts'

const payment = 'Payment id="a", realm="b", method="evm", intent="charge", request="e30"'
const params = { id: 'a', realm: 'b', method: 'evm', intent: 'charge', request: 'e30' }

describe('what stands in one WWW-Authenticate', () => {
  test.each([
    ['one challenge', payment, [{ scheme: 'payment', params }]],
    [
      'two of one scheme',
      `${payment}, ${payment}`,
      [
        { scheme: 'payment', params },
        { scheme: 'payment', params },
      ],
    ],
    [
      'other schemes around it',
      `Basic realm="x, Payment id=\\"y\\"", Negotiate dG9rZW4=, ${payment}, Bearer`,
      [
        { scheme: 'basic', params: { realm: 'x, Payment id="y"' } },
        { scheme: 'negotiate', params: {} },
        { scheme: 'payment', params },
        { scheme: 'bearer', params: {} },
      ],
    ],
    [
      'tokens, blanks and empty elements',
      ', L402  macaroon = abc== ,, invoice=lnbc1 ,',
      [{ scheme: 'l402', params: { macaroon: 'abc==', invoice: 'lnbc1' } }],
    ],
    ['names in any case', 'PAYMENT ID="a"', [{ scheme: 'payment', params: { id: 'a' } }]],
    ['nothing', '', []],
    ['a parameter of no scheme', 'id="a"', []],
    ['a name that stands twice', 'Payment id="a", id="b"', []],
    ['a text that does not end', 'Payment id="a', [{ scheme: 'payment', params: {} }]],
  ])('%s', (_, header, challenges) => {
    expect(readAuthChallenges(header)).toEqual(challenges)
  })
})

test('what the official server writes is read, whatever the script', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((one) => !/[\r\n]/.test(one))
  fc.assert(
    fc.property(text, text.filter(Boolean), text.filter(Boolean), (realm, id, description) => {
      const challenge = { id, realm, description, method: 'evm', intent: 'charge', request: {} }
      const header = Challenge.serialize(Challenge.from(challenge))

      const [one, ...more] = readAuthChallenges(`Basic realm="a", ${header}, Digest x="y"`)

      expect(one?.scheme).toBe('basic')
      expect(more).toEqual([
        {
          scheme: 'payment',
          params: { id, realm, description, method: 'evm', intent: 'charge', request: 'e30' },
        },
        { scheme: 'digest', params: { x: 'y' } },
      ])
    }),
  )
})

test('any text is read in a bounded list, never an exception', () => {
  fc.assert(
    fc.property(fc.string(), (header) => {
      expect(readAuthChallenges(header).length).toBeLessThanOrEqual(16)
    }),
  )
  expect(readAuthChallenges(`${payment}, `.repeat(200))).toHaveLength(16)
  expect(readAuthChallenges(`x="${'\\a'.repeat(40_000)}`)).toEqual([])
})
