import { expect, test } from 'vitest'
import { isTenant, registrableDomain } from '../../shared/mailbox/registrable-domain.ts'

test.each([
  ['shop.example.com', 'example.com'],
  ['Login.shop.example.co.uk.', 'example.co.uk'],
  ['someone.github.io', 'someone.github.io'],
  ['a.someone.vercel.app', 'someone.vercel.app'],
  ['github.io', undefined],
  ['zendesk.com', 'zendesk.com'],
  ['help.someone.zendesk.com', 'someone.zendesk.com'],
  ['my.salesforce.com', 'my.salesforce.com'],
  ['login.someone.my.salesforce.com', 'someone.my.salesforce.com'],
  ['192.0.2.1', undefined],
  ['localhost', undefined],
])('the registrable domain of %s is %s', (host, domain) => {
  expect(registrableDomain(host)).toBe(domain)
})

test('a customer of a shared domain is told from its operator', () => {
  expect(['zendesk.com', 'a.zendesk.com', 'b.a.zendesk.com', 'example.com'].map(isTenant)).toEqual([
    false,
    true,
    true,
    false,
  ])
})
