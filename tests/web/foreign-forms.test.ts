import { beforeAll, expect, test } from 'vitest'
import { type Browser, openBrowser } from '../support/browserless.ts'
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

// The page does not exist, so an accepted form gets 404.
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
  [
    'of the own origin is refused when the browser says that the page is of another site',
    { origin: own, 'sec-fetch-site': 'cross-site' },
    403,
  ],
  ['of an address that was typed in is refused', { origin: own, 'sec-fetch-site': 'none' }, 403],
  ['of the own origin and site is let in', { origin: own, 'sec-fetch-site': 'same-origin' }, 404],
  ['of nobody is refused', {}, 403],
  ['of another encoding is refused', { origin: own, 'content-type': 'multipart/form-data' }, 403],
  ['without a media type is refused', { origin: own, 'content-type': '' }, 403],
  ['of a script in JSON is refused', { origin: own, 'content-type': 'application/json' }, 403],
])('a form %s', async (_, headers, status) => {
  expect(await post(headers)).toBe(status)
})

test('a form without the token of the browser is refused', async () => {
  expect(await post({ origin: own }, '')).toBe(403)
  expect(await post({ origin: own }, 'f'.repeat(64))).toBe(403)
  expect(await post({ origin: own, cookie: '' })).toBe(403)
})

test.each(['PUT', 'PATCH', 'DELETE'])('%s reaches no page', async (method) => {
  const headers = { origin: own, 'content-type': urlencoded }
  const body = new URLSearchParams({ form: token }).toString()
  const shown = await browser.send('/web/login', { method, body, headers })
  expect(shown.status).toBe(404)
})

test('a form that asks for another method is taken as the form that it is', async () => {
  expect(await post({ origin: own, 'x-http-method-override': 'GET' }, '')).toBe(403)
})

test('a form of more than 16 KB is refused', async () => {
  expect(await post({ origin: own }, 'x'.repeat(16 * 1024))).toBe(413)
})

test('a form without a stated length is refused as soon as it is more than 16 KB', async () => {
  let pieces = 0
  const body = new ReadableStream({
    pull(controller) {
      pieces += 1
      controller.enqueue(new TextEncoder().encode(`form=${token}&more=${'x'.repeat(4_096)}&`))
      if (pieces === 1_000) controller.close()
    },
  })
  const headers = { origin: own, 'content-type': urlencoded }
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, headers, duplex: 'half' }

  expect((await browser.send('/web/login', init)).status).toBe(413)
  expect(pieces).toBeLessThan(10)
})
