/**
 * Every outside source of text says the same hostile words; in no answer do they stand outside of
 * `untrusted` and `response`, and none of them breaks anything.
 */
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { connectApp } from '../support/apps.ts'
import { openBrowser } from '../support/browserless.ts'
import type { Answering, TestServer } from '../support/http.ts'
import { serverThat } from '../support/http.ts'
import { byPlatform, messageOf } from '../support/inbound.ts'
import { linkOf, statusOf } from '../support/links.ts'
import type { Market } from '../support/market.ts'
import { execute, openMarket, prepare } from '../support/market.ts'
import { openPerson } from '../support/person.ts'
import { approvePlace, entryOf } from '../support/vault-rows.ts'
import type { Agent, Answer } from '../support/world.ts'
import { mailDomain } from '../support/world.ts'

const canary = 'Approved-by-the-owner'
const lengths = [0, 1, 31, 63, 199, 255, 299, 319, 8_191]
const signs = [
  '\u001b[31m',
  '\u202e',
  '\u200b',
  '\u{e0041}',
  '\n',
  '\r\n',
  '\ud83d',
  '\udc4d',
  '\u0000',
]
const around = fc.array(
  fc.constantFrom(...signs, '\u{1f600}', '"', '”', '<b>', '{{x}}', 'https://e.vil/'),
  {
    maxLength: 6,
  },
)
const words = fc
  .tuple(around, fc.constantFrom(...lengths), around)
  .map(
    ([before, length, after]) =>
      `${before.join('')}${canary} ${'x'.repeat(length)}\u{1f600}${after.join('')}`,
  )
const runs = { numRuns: 30 }

let market: Market
let agent: Agent
let answer: Answering
let shop: TestServer
beforeAll(async () => {
  market = await openMarket()
  agent = await market.agent('pay', { usdc: 1 })
  shop = await serverThat((response, received) => answer(response, received))
})

const asBytes = (text: string) => Buffer.from(text).toString('latin1')
/** What HTTP takes as the value of a header. */
const asHeader = (text: string) => asBytes(text.replaceAll(/\p{Cc}/gu, ' ').trim())

/** Nothing failed, and what is told in the service's own name has none of these words. */
function hold(...answers: (Answer | { body: unknown; status?: number })[]): void {
  for (const { status = 200, body } of answers) {
    expect(status, JSON.stringify(body)).not.toBe(500)
    const own = JSON.stringify(body, (key, value: unknown) =>
      key === 'untrusted' || key === 'response' ? undefined : value,
    )
    expect(own).not.toContain(canary)
    expect(own).not.toMatch(/\\u001b|\u202e|\u200b|\u{e0041}|[\ud800-\udfff](?![\udc00-\udfff])/u)
    const told = JSON.stringify(body, (key, value: unknown) =>
      key === 'response' ? undefined : value,
    )
    expect(told).not.toMatch(/\\u001b|\u202e|\u200b|\u{e0041}|\\ud83d|\\udc4d|\\u0000/u)
  }
}

function offerOf(said: string, place: string) {
  const { network, usdc } = market.chain
  const plain = { scheme: 'exact', network, asset: usdc, payTo: market.hostile.payTo }
  const offer = { ...plain, amount: '10000', maxTimeoutSeconds: 300, description: said }
  switch (place) {
    case 'key':
      return { ...offer, extra: { [said]: said, assetTransferMethod: said } }
    case 'extra':
      return { ...offer, extra: { name: said, hint: said, message: said } }
    case 'plain':
      return offer
    default:
      return { ...offer, [place]: said }
  }
}
const places = fc.oneof(
  { weight: 3, arbitrary: fc.constant('plain') },
  { weight: 2, arbitrary: fc.constantFrom('scheme', 'network', 'asset', 'payTo', 'extra', 'key') },
)

test('a merchant is heard in `untrusted` and `response` alone', async () => {
  const heard = new Set<unknown>()
  await fc.assert(
    fc.asyncProperty(
      words,
      places,
      fc.constantFrom(200, 302, 402, 418, 500),
      async (said, place, status) => {
        const resource = { url: shop.url, description: said, mimeType: said }
        const body = {
          x402Version: 2,
          error: said,
          resource,
          accepts: [offerOf(said, place)],
          [said]: said,
        }
        answer = (response, { headers }) => {
          const isPaid = headers['payment-signature'] !== undefined
          response.writeHead(isPaid ? status : 402, asHeader(said), {
            location: asHeader(said),
            etag: asHeader(said),
            'www-authenticate': `Payment id="a", realm="${asHeader(said).replaceAll('"', '')}", method="m"`,
            ...(isPaid && status === 418 ? { 'content-encoding': asHeader(said) } : {}),
          })
          response.end(JSON.stringify(body))
        }

        const prepared = await prepare(agent, { resource_url: shop.url })
        hold(prepared)
        const attempt = prepared.body['attempt_id']
        if (typeof attempt === 'string') {
          const executed = await execute(agent, attempt)
          hold(executed)
          heard.add(executed.body['status'])
        } else heard.add(prepared.body['error'])
        hold(await agent.get('/wallet-activity-list?limit=5'))
      },
    ),
    runs,
  )
  expect([...heard]).toEqual(expect.arrayContaining(['unsupported_scheme', 'unknown']))
})

test('a site is heard in `response` alone', async () => {
  const site = new URL(shop.url).origin
  const credential_id = await entryOf(market, agent, { site, password: 'a canary of 9 words' })
  await approvePlace(market, credential_id, { name: 'p' })
  const heard = new Set<number>()
  const inject = [{ where: 'form_field', name: 'p', secret: 'password' }]
  await fc.assert(
    fc.asyncProperty(words, fc.constantFrom(200, 302, 404, 500), async (said, status) => {
      answer = (response) =>
        response
          .writeHead(status, asHeader(said), {
            location: asHeader(said),
            'set-cookie': asHeader(said),
            hint: asHeader(said),
          })
          .end(said)

      const used = await agent.post('/vault-use', {
        credential_id,
        method: 'POST',
        path: '/',
        inject,
      })
      hold(used)
      heard.add(used.status)
    }),
    runs,
  )
  expect([...heard]).toContain(200)
})

test('a page with forms is heard in `response` alone, and in `untrusted` where it is refused', async () => {
  const site = new URL(shop.url).origin
  const login = { site, username: 'forms', password: 'a canary of 9 words' }
  const credential_id = await entryOf(market, agent, login)
  const quoted = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const named = fc.constantFrom('name', 'action', 'value')
  const heard = new Set<unknown>()
  await fc.assert(
    fc.asyncProperty(words, named, async (said, place) => {
      const [name, action, value] = ['name', 'action', 'value'].map((one) =>
        one === place ? quoted(said) : '',
      )
      answer = (response, { method }) => {
        const form = `<form method="post" action="/in?${action}"><input name="${name || 'password'}"
          type="password"><input name="csrf" value="${value}"></form>`
        response
          .writeHead(200, asHeader(said), { 'content-type': 'text/html', hint: asHeader(said) })
          .end(method === 'GET' ? form : said)
      }

      const begun = await agent.post('/vault-login', { credential_id, path: '/' })
      hold(begun)
      heard.add(begun.body['error'] ?? 'answered')
      const { session } = begun.body
      if (session !== undefined) hold(await agent.post('/vault-session', { session, path: '/' }))
      hold(await agent.get('/wallet-activity-list?limit=5'))
    }),
    runs,
  )
  expect([...heard]).toEqual(expect.arrayContaining(['answered', 'place_not_approved']))
})

test('a mail is heard in `untrusted` alone, and in mails to the owner not at all', async () => {
  await fc.assert(
    fc.asyncProperty(words, async (said) => {
      const to = `${agent.alias}@${mailDomain}`
      const line = Buffer.from(said).toString('base64')
      const raw = messageOf({
        to,
        from: `=?utf-8?b?${line}?= <a@mail.example>`,
        subject: said,
        text: said,
        headers: { 'Reply-To': `=?utf-8?b?${line}?= <b@mail.example>` },
      })
      await byPlatform(market.world, { to, raw })

      const listed = await agent.get('/mail-list?limit=1')
      hold(listed, await agent.get('/wallet-activity-list?category=mail&limit=1'))
      const [mail] = listed.body['mails'] as { mail_id: string }[]
      hold(await agent.get(`/mail-read?mail_id=${mail?.mail_id ?? ''}`))
    }),
    runs,
  )
})

test('a memo, a reason, an app and who has a link are heard in `untrusted` alone', async () => {
  const { agent: own, email } = await openPerson(market, 1)
  await fc.assert(
    fc.asyncProperty(words, async (said) => {
      await market.db.sql`delete from private.rate_buckets`
      const memo = said.slice(0, 280)
      const order = {
        recipient: market.hostile.payTo,
        chain: market.chain.network,
        token: 'USDC',
        memo,
      }
      hold(await own.post('/wallet-custodial-transfer', { ...order, amount: '0.02' }))
      const name = said.replaceAll(/[\p{C}]/gu, '').slice(0, 60)
      const { token } = await connectApp(market, own, { name })
      const byApp = { headers: { authorization: `Bearer ${token}` } }
      hold(await market.send('/get-identity', byApp))
      await enterLogin(own, said)
      hold(await own.get('/wallet-activity-list?limit=10'), await own.get('/vault-list?limit=5'))
    }),
    { numRuns: 12 },
  )
  const mails = JSON.stringify((await market.mails(email)).map(({ text }) => text))
  expect(mails).not.toMatch(/https:\/\/e\.vil|e\.vil/)
})

async function enterLogin(own: Agent, said: string): Promise<void> {
  const browser = openBrowser(market)
  const link = await linkOf(own, { action_type: 'website_login', site: 'https://www.shop.com' })
  const { pathname } = new URL(link.url)
  const name = { 'user-agent': asHeader(said).slice(0, 256) }
  await browser.visit(pathname, name)
  await browser.submit({}, `${pathname}/open`)
  const done = await browser.submit(
    { username: said.slice(0, 320), password: 'nine blue canaries' },
    `${pathname}/enter`,
  )
  expect(done.status).toBeLessThan(500)
  hold({ body: await statusOf(own, link) })
}

test('an endpoint of a chain is heard nowhere', async () => {
  await fc.assert(
    fc.asyncProperty(words, async (said) => {
      const error = { code: -32_000, message: said, data: said }
      const node = await serverThat((response) =>
        response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error, result: said })),
      )
      const lying = market.worker({
        fetch: (input, init) => {
          const { url } = new Request(input)
          return fetch(url.startsWith(market.chain.rpcUrl) ? node.url : input, init)
        },
      })
      const order = { recipient: market.hostile.payTo, chain: market.chain.network, token: 'USDC' }

      hold(await lying.post(agent, '/get-wallet-balances', {}))
      hold(await lying.post(agent, '/wallet-custodial-transfer', { ...order, amount: '0.01' }))
    }),
    { numRuns: 8 },
  )
})
