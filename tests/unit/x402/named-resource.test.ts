import { expect, test } from 'vitest'
import { namesOtherHost } from '../../../shared/x402/challenge.ts'

const origin = 'https://shop.example.com'

test.each([
  ['nothing', undefined, false],
  ['its own address', { url: 'https://shop.example.com/data' }, false],
  ['itself without encryption', { url: 'http://shop.example.com/data' }, false],
  ['itself in capitals', { url: 'https://SHOP.example.com/data' }, false],
  ['itself as a text', 'https://shop.example.com/data', false],
  ['a path', { url: '/data' }, false],
  ['no address', { url: 'http://[' }, false],
  ['what is no text', { url: 7 }, false],
  ['another host', { url: 'https://evil.example/data' }, true],
  ['another host as a text', 'https://evil.example/data', true],
  ['a host above', { url: 'https://example.com/data' }, true],
  ['a host below', { url: 'https://a.shop.example.com/data' }, true],
  ['another port', { url: 'https://shop.example.com:8443/data' }, true],
  ['a trailing dot', { url: 'https://shop.example.com./data' }, true],
  ['itself as a user', { url: 'https://shop.example.com@evil.example/' }, true],
  ['a host behind two slashes', { url: '//evil.example/data' }, true],
  ['what has no host', { url: 'urn:isbn:0451450523' }, true],
])('a challenge that names %s', (_, resource, isOther) => {
  expect(namesOtherHost({ resource }, origin)).toBe(isOther)
})

test('the resource of a requirement counts beside that of the challenge', () => {
  const requirement = { resource: 'https://evil.example/data' }

  expect(namesOtherHost({ resource: `${origin}/data`, requirement }, origin)).toBe(true)
})
