import { expect, test } from 'vitest'
import { usableSite } from '../../../shared/vault/entries/site.ts'

const service = {
  allowLoopback: false,
  BASE_URL: 'https://api.accounts.com',
  WEB_URL: 'https://accounts.com/web',
}
const local = {
  allowLoopback: true,
  BASE_URL: 'http://127.0.0.1:8787',
  WEB_URL: 'http://localhost:8787/web',
}

test.each([
  'api.accounts.com',
  'https://accounts.com',
  'https://ACCOUNTS.com/web/login',
  'https://accounts.com:8443',
  'https://accounts。com',
])('%s is this service, which nobody stores a login of', (site) => {
  expect(usableSite(site, service)).toHaveProperty('refused')
})

test.each(['http://127.0.0.1:8787', 'http://localhost:8787', 'http://[::1]:8787'])(
  '%s is the service of the local world',
  (site) => {
    expect(usableSite(site, local)).toEqual({ refused: 'The site is this service itself.' })
  },
)

test('another site of the same machine or domain has its own logins', () => {
  expect(usableSite('http://localhost:3000/login', local)).toEqual({
    origin: 'http://localhost:3000',
  })
  expect(usableSite('shop.accounts.com', service)).toEqual({ origin: 'https://shop.accounts.com' })
})

test.each(['https://10.0.0.1', 'https://router.lan', 'https://intranet', 'https://a.com:8443'])(
  '%s would never be reached, so nothing is stored for it',
  (site) => {
    expect(usableSite(site, service)).toHaveProperty('refused')
  },
)
