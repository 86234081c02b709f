import { expect, test } from 'vitest'
import notFound from '../../functions/not-found/index.ts'
import { openBrowser, signedIn } from '../support/browserless.ts'
import { start } from '../support/world.ts'

const world = await start()

test('a visitor without a session is sent to sign in and comes back to the same page', async () => {
  const answer = await openBrowser(world).send('/web?from=mail')

  expect(answer.status).toBe(303)
  expect(answer.headers.get('location')).toBe('/web/login?next=%2Fweb%3Ffrom%3Dmail')
})

test('the owner sees the account of the session', async () => {
  const agent = await world.agent('read')

  const page = await (await signedIn(world, agent)).visit('/web')

  expect(page.status).toBe(200)
  expect(page.text).toContain(agent.alias)
})

test('an ended session opens nothing', async () => {
  const browser = await signedIn(world, await world.agent('read'))
  await world.db.sql`update private.credentials set revoked_at = private.clock()
    where kind = 'session'`

  const answer = await browser.send('/web')

  expect(answer.status).toBe(303)
  expect(browser.cookies.has('__Host-aoa_session')).toBe(false)
})

test('every page forbids inline code, framing and keeping', async () => {
  const { headers } = await openBrowser(world).visit('/web/nothing-here')

  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
  expect(headers.get('content-security-policy')).not.toContain('unsafe')
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
})

test('a page is shown on its own host alone', async () => {
  const answer = await openBrowser(world).send('http://127.0.0.1/web/login?next=%2Fweb')

  expect(answer.headers.get('location')).toBe('http://localhost/web/login?next=%2Fweb')
})

test('a path that only begins like a page is none', async () => {
  expect((await openBrowser(world).visit('/website')).status).toBe(404)
})

test('the bare address shows a person the pages, and an agent what it asked for', async () => {
  const page = notFound.fetch(new Request('http://aoa/', { headers: { accept: 'text/html,*/*' } }))
  const answer = notFound.fetch(new Request('http://aoa/'))

  expect([page.status, page.headers.get('location')]).toEqual([303, '/web'])
  expect(answer.status).toBe(404)
})

test('style and scripts are kept for ever under the hash of their content', async () => {
  const browser = openBrowser(world)
  const { html, status } = await browser.visit('/web/nothing-here')
  const [, address = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(html) ?? []

  const style = await browser.send(address)

  expect(status).toBe(404)
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8')
  expect(style.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
})
