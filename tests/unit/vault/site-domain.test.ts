import { expect, test } from 'vitest'
import { siteDomainOf } from '../../../shared/vault/site-domain.ts'

test.each([
  ['https://shop.example.com', 'example.com'],
  ['https://login.shop.example.co.uk', 'example.co.uk'],
  ['https://someone.github.io', 'someone.github.io'],
  ['https://github.io', undefined],
  ['https://192.0.2.1', undefined],
  ['http://localhost:8080', undefined],
])('the domain of %s is %s', (origin, domain) => {
  expect(siteDomainOf(origin, { allowLoopback: false })).toBe(domain)
})

test('a loopback host stands for itself where it is allowed', () => {
  const origins = ['http://localhost:8080', 'http://127.0.0.1:1', 'http://[::1]:1']

  const domains = origins.map((origin) => siteDomainOf(origin, { allowLoopback: true }))

  expect(domains).toEqual(['localhost', '127.0.0.1', '[::1]'])
})
