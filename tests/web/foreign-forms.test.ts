import { beforeAll, expect, test } from 'vitest'
import type { Browser } from '../support/browserless.ts'
import { openBrowser } from '../support/browserless.ts'
import { start } from '../support/world.ts'

const world = await start()
const own = 'http://localhost'
const urlencoded = 'application/x-www-form-urlencoded'
let browser: Browser
let token: string

beforeAll(async () => {
  browser = openBrowser(world)
  await browser.visit('/web/nothing-here')
  token = browser.cookies.get('__Host-aoa_form') ?? ''
})

async function post(headers: Record<string, string>, form = token) {
  const body = new URLSearchParams({ form }).toString()
  const answer = await browser.send('/web/nothing-here', {
    method: 'POST',
    body,
    headers: { 'content-type': urlencoded, ...headers },
  })
  return answer.status
}

// There is no such page, so a form that is let in finds nothing: 404.
test.each([
  ['of the own origin is let in', { origin: own }, 404],
  ['of another origin is refused', { origin: 'https://evil.example' }, 403],
  ['of the same host on another port is refused', { origin: 'http://localhost:81' }, 403],
  ['of a hidden origin is refused', { origin: 'null' }, 403],
  ['of the own site without an origin is let in', { 'sec-fetch-site': 'same-origin' }, 404],
  ['of a sibling host is refused', { 'sec-fetch-site': 'same-site' }, 403],
  ['of another site is refused', { 'sec-fetch-site': 'cross-site' }, 403],
  [
    'of another origin is refused whatever else it says',
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    403,
  ],
  ['of nobody is refused', {}, 403],
  ['of a script in JSON is refused', { origin: own, 'content-type': 'application/json' }, 403],
])('a form %s', async (_, headers, status) => {
  expect(await post(headers)).toBe(status)
})

test('a form without the token of the browser is refused', async () => {
  expect(await post({ origin: own }, '')).toBe(403)
  expect(await post({ origin: own }, 'f'.repeat(64))).toBe(403)
  expect(await post({ origin: own, cookie: '' })).toBe(403)
})

test('a form of more than 16 KB is refused', async () => {
  expect(await post({ origin: own }, 'x'.repeat(16 * 1024))).toBe(413)
})
