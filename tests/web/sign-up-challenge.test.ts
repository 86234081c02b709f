/** With a challenge of the operator, codes are sent only from the sign-up page, to who solved it. */
import { beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { watchHealth } from '../../shared/health/watch.ts'
import { challengeRefusal } from '../../shared/onboarding/challenge.ts'
import { openBrowser } from '../support/browserless.ts'
import { openFakeSiteverify, secretKey, siteKey } from '../support/fake-siteverify.ts'
import { forgetHealth } from '../support/health.ts'
import { mailsTo, requestCode } from '../support/sign-up.ts'
import { start } from '../support/world.ts'

const world = await start()
const siteverify = openFakeSiteverify(() => world.world.now())
const { world: own } = world.worker({ fetch: (...request) => siteverify.fetch(...request) })
const failed = 'The check that you are not a program was not passed.'
let people = 0

beforeEach(() => {
  own.config.TURNSTILE_SITE_KEY = siteKey
  own.config.TURNSTILE_SECRET_KEY = secretKey
  world.world.config.TURNSTILE_SITE_KEY = siteKey
  siteverify.received.length = 0
  siteverify.answer = undefined
})

/** Sends the form of the sign-up page with this token, in a browser of its own. */
async function join(token: string | undefined) {
  const email = `visitor${(people += 1)}@example.com`
  const browser = openBrowser({ world: own })
  await browser.visit('/web/join')
  const shown = await browser.submit({
    email,
    ...(token !== undefined && { 'cf-turnstile-response': token }),
  })
  return { ...shown, mails: (await mailsTo(world, email)).length }
}

test('the page shows the widget, and it alone may load the script and frame of the widget', async () => {
  const browser = openBrowser({ world: own })

  const page = await browser.visit('/web/join')
  const other = await browser.visit('/web/login')

  const policyOf = ({ headers }: typeof page) => headers.get('content-security-policy') ?? ''
  expect(page.html).toContain(`<div class="cf-turnstile" data-sitekey="${siteKey}">`)
  expect(page.html).toContain('src="https://challenges.cloudflare.com/turnstile/v0/api.js"')
  expect(policyOf(page)).toContain("script-src 'self' https://challenges.cloudflare.com;")
  expect(policyOf(page)).toContain('; frame-src https://challenges.cloudflare.com;')
  expect(policyOf(page)).not.toContain('unsafe')
  expect(policyOf(other)).not.toContain('cloudflare')
  expect(other.html).not.toContain('cloudflare')
})

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['2001:db8::9', '2001:db8::9'],
  ['direct', undefined],
])('a client at %s is verified with the address %s', async (client, remoteip) => {
  expect(await challengeRefusal({ world: own, client }, siteverify.solve())).toBeUndefined()

  expect(siteverify.received.map((body) => body.remoteip)).toEqual([remoteip])
})

test('who solved the challenge is sent the code', async () => {
  const shown = await join(siteverify.solve())

  expect(shown).toMatchObject({ path: '/web/join/code', mails: 1 })
  expect(siteverify.received).toHaveLength(1)
  expect(siteverify.received[0]).toMatchObject({ secret: secretKey })
})

test.each([
  ['without a token', () => undefined],
  ['with an empty token', () => ''],
  ['with an invented token', () => 'XXXX.DUMMY.TOKEN.XXXX'],
  ['with a token of 2,049 characters', () => 'x'.repeat(2_049)],
  ['with a token of another site', () => siteverify.solve('shop.example')],
  ['with a token of another host of ours', () => siteverify.solve('www.localhost')],
])('a form %s is refused, shown again and sends nothing', async (_, tokenOf) => {
  const shown = await join(tokenOf())

  expect(shown).toMatchObject({ status: 422, path: '/web/join', mails: 0 })
  expect(shown.text).toContain(failed)
  expect(shown.html).toContain(`data-sitekey="${siteKey}"`)
})

test('a token works once, and for 300 seconds', async () => {
  const [used, late] = [siteverify.solve(), siteverify.solve()]
  await join(used)

  const again = await join(used)
  await world.tick(301)
  const tooLate = await join(late)

  expect([again, tooLate].map(({ status, mails }) => [status, mails])).toEqual([
    [422, 0],
    [422, 0],
  ])
})

test('an answer that was lost is asked for again, and the token still works', async () => {
  siteverify.lost = 1

  const shown = await join(siteverify.solve())

  expect(shown).toMatchObject({ path: '/web/join/code', mails: 1 })
  const [first, second] = siteverify.received
  expect(first).toEqual(second)
})

test.each([
  ['cannot be reached', () => Promise.reject(new Error('unreachable'))],
  ['answers no JSON', async () => new Response('<html>', { status: 502 })],
  ['answers something else', async () => Response.json({ ok: true })],
  ['redirects', async () => new Response(null, { status: 302, headers: { location: '/' } })],
  ['has an error of its own', async () => Response.json(internal, { status: 500 })],
])('nobody signs up while siteverify %s', async (_, answer) => {
  siteverify.answer = answer

  const shown = await join(siteverify.solve())

  expect(shown).toMatchObject({ status: 503, mails: 0 })
  expect(shown.text).toContain('Not available right now')
})
const internal = { success: false, 'error-codes': ['internal-error'] }

test('a wrong or missing secret lets nobody through, and the log says why', async () => {
  own.config.TURNSTILE_SECRET_KEY = 'a wrong one'
  const wrong = await join(siteverify.solve())
  delete own.config.TURNSTILE_SECRET_KEY
  const missing = await join(siteverify.solve())

  expect(wrong).toMatchObject({ status: 503, mails: 0 })
  expect(missing).toMatchObject({ status: 500, mails: 0 })
  const logged = JSON.stringify(world.log)
  expect(logged).toContain('siteverify: invalid-input-secret')
  expect(logged).toContain('TURNSTILE_SECRET_KEY is not bound')
})

test('without a site key there is no challenge, and nothing of it on the page', async () => {
  own.config.TURNSTILE_SITE_KEY = ''

  const page = await openBrowser({ world: own }).visit('/web/join')
  const shown = await join(undefined)

  expect(page.html).not.toContain('turnstile')
  expect(page.headers.get('content-security-policy')).not.toContain('cloudflare')
  expect(shown).toMatchObject({ path: '/web/join/code', mails: 1 })
  expect(siteverify.received).toEqual([])
})

test('with a challenge, an agent is sent to the page and gets no code', async () => {
  const refused = await requestCode(world, 'agents.user@example.com')

  expect(refused).toMatchObject({
    status: 403,
    body: { error: 'browser_only', details: { url: 'http://localhost/web/join' } },
  })
  expect(await mailsTo(world, 'agents.user@example.com')).toEqual([])
})

test('with a challenge, sign-up is offered to agents as partial_live', async () => {
  await forgetHealth(world.db, world.world)
  await watchHealth(own, 1)
  const { body } = await (await world.agent('read')).get('/get-identity')

  const gaps = z.array(z.object({ gap_id: z.string(), reasons: z.array(z.string()) }))
  const found = gaps.parse(body['gaps']).find(({ gap_id }) => gap_id === 'GAP_SIGN_UP_V1')
  expect(found?.reasons).toContain('agent_sign_up_page_only')
})
