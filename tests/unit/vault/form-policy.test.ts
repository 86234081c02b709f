/** The policy of a page decides where its forms may be sent. */
import { expect, test } from 'vitest'
import { formTargets } from '../../../shared/vault/sign-in/form-policy.ts'

const page = new URL('https://shop.example.com/in')
const action = 'https://shop.example.com/login?a=1'

test.each([
  '',
  "default-src 'none'",
  "form-action 'self'",
  'FORM-ACTION *',
  "form-action 'none' 'self'",
  'form-action https:',
  'form-action http:',
  'form-action shop.example.com',
  'form-action https://shop.example.com:443/login',
  'form-action *.example.com',
  'form-action shop.example.com:*/',
  "form-action 'self'; form-action 'none'",
  "form-action 'self', default-src 'none'",
])('%j lets it', (policy) => {
  expect(formTargets([policy], page)(action)).toBe(true)
})

test.each([
  'form-action',
  "form-action 'none'",
  'form-action other.example.com',
  'form-action example.com',
  'form-action *.shop.example.com',
  'form-action shop.example.com:8443',
  'form-action https://shop.example.com/log',
  'form-action https://shop.example.com/login/',
  'form-action ftp:',
  "form-action 'nonce-abc'",
  "form-action 'self', form-action 'none'",
  "form-action 'none'; form-action 'self'",
])('%j does not', (policy) => {
  expect(formTargets([policy], page)(action)).toBe(false)
})

test('each of several policies is kept, and what leads nowhere is sent nowhere', () => {
  expect(formTargets(["form-action 'self'", 'form-action *'], page)(action)).toBe(true)
  expect(formTargets(['', 'form-action https://other.example'], page)(action)).toBe(false)
  expect(formTargets([], page)('')).toBe(false)
})

test('of a policy with very many sources those behind the first 500 allow nothing', () => {
  const others = Array.from({ length: 500 }, (_, at) => `a${at}.example`).join(' ')

  expect(formTargets([`form-action ${others}`], page)(action)).toBe(false)
  expect(formTargets([`form-action 'self' ${others}`], page)(action)).toBe(true)
  expect(formTargets([`form-action ${others} 'self'`], page)(action)).toBe(false)
})
