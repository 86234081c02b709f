import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isRefusal } from '../../shared/contract/errors.ts'
import { checkUrl } from '../../shared/egress/safe-fetch.ts'
import { canonicalDomain } from '../../shared/mandates/merchant-domain.ts'
import { hostMatches } from '../../shared/policy/mandate.ts'
import { freezeRequest } from '../../shared/x402/challenge.ts'
import { casesOf } from '../support/cases.ts'
import { merchantPairs, refusedNames, refusedSpaced, words } from '../support/merchant-pairs.ts'

const production = { allowLoopback: false }
const local = { allowLoopback: true }

/** Returns the outcome of a payment at this address under a mandate for this name. */
function outcomeOf(mandate: string, resourceUrl: string, config = production) {
  const includes = mandate.startsWith('*.')
  const canonical = canonicalDomain(includes ? mandate.slice(2) : mandate, config)
  if ('problem' in canonical) return canonical.problem
  if (includes && !canonical.ownsSubdomains) return 'shared'
  const request = freezeRequest({ resourceUrl }, config)
  if (isRefusal(request)) return 'unpayable'
  const { host } = new URL(new URL(request.url).origin)
  return hostMatches(canonical.domain, includes, host) ? 'covered' : 'other'
}

test('of more than 200 pairs of mandate and address, none is covered that is not the merchant', () => {
  const wrong = merchantPairs
    .map(([mandate, url, outcome]) => ({ mandate, url, outcome, is: outcomeOf(mandate, url) }))
    .filter(({ outcome, is }) => outcome !== is)

  expect(wrong).toEqual([])
  expect(new Set(merchantPairs.map((pair) => pair.join(' '))).size).toBe(merchantPairs.length)
  expect(merchantPairs.length).toBeGreaterThan(200)
})

test.each(['shop.example', 'api.shop.test'])(
  '%s is a name for tests: good locally alone',
  (name) => {
    expect(canonicalDomain(name, local)).toMatchObject({ domain: name })
    expect(canonicalDomain(name, production)).toMatchObject({
      problem: expect.any(String) as string,
    })
  },
)

describe('no mandate is made for a name', () => {
  test.each(Object.entries(refusedNames))('that fails %s', (problem, names) => {
    for (const name of words(names)) {
      expect(canonicalDomain(name, production), name).toMatchObject({ problem })
    }
  })

  test.each(refusedSpaced)('with a character that is not seen: %j', (name) => {
    expect(canonicalDomain(name, production)).toMatchObject({ problem: 'invisible_character' })
  })

  test('that is empty', () => {
    expect(canonicalDomain('', production)).toMatchObject({ problem: 'empty' })
  })
})

test('who gives an address in place of a host hears which host to give', () => {
  const answer = canonicalDomain('https://Shop.Example.com/item?id=1', production)
  expect(answer).toMatchObject({ problem: 'url' })
  expect('problem' in answer && answer.message).toContain('Here that is shop.example.com.')
})

test('a name in other writing is told as A-label and as it reads', () => {
  expect(canonicalDomain('B\u00dcCHER.de', production)).toEqual({
    domain: 'xn--bcher-kva.de',
    unicode: 'b\u00fccher.de',
    isIdn: true,
    ownsSubdomains: true,
  })
})

test('subdomains are not to be had of a host below which names belong to others', () => {
  const shared =
    'amazonaws.com windows.net core.windows.net amazoncognito.com wordpress.com zendesk.com slack.com ' +
    'medium.com neocities.org lemonsqueezy.com my.salesforce.com github.dev myportfolio.com'
  for (const host of words(shared)) {
    expect(canonicalDomain(host, production), host).toMatchObject({ ownsSubdomains: false })
  }
  for (const host of words('example.com shop.github.io shop.co.uk my.bucket.s3.amazonaws.com')) {
    expect(canonicalDomain(host, production), host).toMatchObject({ ownsSubdomains: true })
  }
})

test('loopback is a merchant where the service fetches from it, and nowhere else', () => {
  expect(canonicalDomain('LOCALHOST:4021', local)).toMatchObject({ domain: 'localhost:4021' })
  expect(outcomeOf('localhost', 'http://localhost:4021/data', local)).toBe('covered')
  expect(outcomeOf('localhost:4021', 'http://localhost:4021/data', local)).toBe('covered')
  expect(outcomeOf('127.0.0.1', 'http://127.0.0.1:4021/data', local)).toBe('covered')
  expect(outcomeOf('localhost:4021', 'http://localhost:4022/data', local)).toBe('other')
  expect(outcomeOf('localhost', 'http://127.0.0.1:4021/data', local)).toBe('other')
  expect(outcomeOf('localhost', 'http://[::1]:4021/data', local)).toBe('other')
  expect(outcomeOf('shop.example.com', 'http://localhost:4021/data', local)).toBe('other')
  for (const name of words('localhost localhost:4021 127.0.0.1 127.0.0.1:4021')) {
    expect(canonicalDomain(name, production), name).toHaveProperty('problem')
  }
  for (const name of words('127.1 [::1] localhost:0 localhost:65536 localhost:080 a.localhost')) {
    expect(canonicalDomain(name, local), name).toHaveProperty('problem')
  }
})

test('any text is refused or becomes a name that is its own form and can be fetched', () => {
  const part = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom('xn--', 'com', 'de', '.', '\u0430', '\u00fc', 'shop', '-', '\u3002', '1', 'A'),
  )
  const text = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''))
  const name = fc.oneof(
    text,
    text.map((start) => `${start}.com`),
    fc.domain(),
  )
  fc.assert(
    fc.property(name, (input) => {
      const first = canonicalDomain(input, production)
      if ('problem' in first) return
      const { domain, unicode } = first
      expect(checkUrl(`https://${domain}/`, production)).toHaveProperty('url.hostname', domain)
      expect(canonicalDomain(domain, production)).toEqual(first)
      expect(canonicalDomain(unicode, production)).toEqual(first)
    }),
    { numRuns: casesOf(20_000) },
  )
})
