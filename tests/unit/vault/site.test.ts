import { expect, test } from 'vitest'
import { siteOrigin } from '../../../shared/vault/entries/site.ts'

test.each([
  ['example.com', 'https://example.com'],
  ['https://example.com', 'https://example.com'],
  ['HTTPS://Example.COM:443/login?next=%2F#form', 'https://example.com'],
  ['example.com/login', 'https://example.com'],
  ['https://example.com:8443/', 'https://example.com:8443'],
  ['example.com:8443', 'https://example.com:8443'],
  ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ['ｅxample。com', 'https://example.com'],
])('%s is the site %s', (text, origin) => {
  expect(siteOrigin(text, { allowLoopback: false })).toEqual({ origin })
  expect(siteOrigin(origin, { allowLoopback: false })).toEqual({ origin })
})

test.each([
  'http://example.com',
  'ftp://example.com',
  'javascript://example.com/%0aalert(1)',
  'https://user:word@example.com',
  'user@example.com',
  'https://example.com.',
  'https://',
  '',
  'exa mple.com',
  'http://localhost:8080',
  'https://127.0.0.1',
  '0x7f.1',
  `https://${'a'.repeat(2048)}.com`,
])('%s is no site', (text) => {
  expect(siteOrigin(text, { allowLoopback: false })).toHaveProperty('refused')
})

test('this machine is a site only where that is allowed, and no other host without TLS', () => {
  const allowed = { allowLoopback: true }

  expect(siteOrigin('http://127.0.0.1:8080/x', allowed)).toEqual({
    origin: 'http://127.0.0.1:8080',
  })
  expect(siteOrigin('https://localhost', allowed)).toEqual({ origin: 'https://localhost' })
  expect(siteOrigin('http://localhost.example.com', allowed)).toHaveProperty('refused')
})
