/** Cookies of a session at one origin are kept as RFC 6265 requires of browsers. */
import { expect, test } from 'vitest'
import { cookieHeader, keptCookies } from '../../../shared/vault/sign-in/cookies.ts'

const url = new URL('https://app.shop.example.com/account/login')
const now = Date.parse('2026-09-01T12:00:00Z')

function kept(lines: readonly string[], jar: Parameters<typeof keptCookies>[0] = []) {
  const headers = new Headers()
  for (const line of lines) headers.append('set-cookie', line)
  return keptCookies(jar, headers, url, now)
}

function sent(lines: readonly string[], path: string, later = 0): string | undefined {
  return cookieHeader(kept(lines), new URL(path, url), now + later)
}

test.each([
  ['to every path', 'a=1; Path=/', '/other', 'a=1'],
  ['to its directory alone', 'a=1', '/account/home', 'a=1'],
  ['not above its directory', 'a=1', '/', undefined],
  ['not beside its path', 'a=1; Path=/acc', '/account', undefined],
  ['to this host for its domain', 'a=1; Path=/; Domain=.shop.example.com', '/', 'a=1'],
  ['to nobody for another domain', 'a=1; Path=/; Domain=evil.example', '/', undefined],
  ['to nobody for a domain that ends alike', 'a=1; Path=/; Domain=op.example.com', '/', undefined],
  ['with signs of its own', 'a=b=c "d"; Path=/', '/', 'a=b=c "d"'],
  ['nowhere when it is over', 'a=1; Path=/; Max-Age=0', '/', undefined],
  [
    'nowhere when it was over long ago',
    'a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
    '/',
    undefined,
  ],
  ['nowhere without a name', '=1; Path=/', '/', undefined],
])('a cookie goes %s', (_, line, path, expected) => {
  expect(sent([line], path)).toBe(expected)
})

test('a cookie takes the place of the one of its name and path, and ends when it says', () => {
  const lines = ['a=1; Path=/', 'b=2; Path=/account; Max-Age=60', 'a=3; Path=/']

  expect(sent(lines, '/account/x')).toBe('b=2; a=3')
  expect(sent(lines, '/account/x', 61_000)).toBe('a=3')
  expect(kept(['a=; Path=/; Max-Age=-1'], kept(lines)).map(({ name }) => name)).toEqual(['b'])
})

test('a jar is bounded, whatever a site sets', () => {
  const many = Array.from({ length: 200 }, (_, at) => `c${at}=${'x'.repeat(1_000)}; Path=/`)

  const jar = kept([...many, `big=${'x'.repeat(5_000)}`])

  expect(jar.length).toBeLessThanOrEqual(50)
  expect(JSON.stringify(jar).length).toBeLessThan(20_000)
  expect(jar.at(-1)?.name).toBe('c199')
})
