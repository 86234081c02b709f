/** The owner approves on a page, without script, where a secret goes. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { signedIn } from '../support/browserless.ts'
import { askedFor } from '../support/held.ts'
import { serverThat } from '../support/http.ts'
import { ownerOf } from '../support/owner.ts'
import { entryOf } from '../support/vault-rows.ts'
import { type Answer, start } from '../support/world.ts'

const world = await start()
const site = await serverThat((response) => response.writeHead(200).end('in'))
const { origin } = new URL(site.url)

const login = { site: origin, password: 'a password of mine' }
const request = {
  method: 'POST',
  path: '/v1/login?from=app',
  json: { user: 'ada' },
  inject: [{ where: 'json_field', pointer: '/pass', secret: 'password' }],
}

async function home() {
  const agent = await world.agent('vault')
  const credential_id = await entryOf(world, agent, login)
  const use = (given: object = {}) =>
    agent.post('/vault-use', { credential_id, ...request, ...given })
  return { agent, credential_id, use, browser: await signedIn(world, agent) }
}

function approvalIn({ body }: Answer): string {
  const { approval_url } = z.object({ approval_url: z.url() }).parse(body['details'])
  return approval_url
}

/** Sends the form of the first destination on the page. */
async function decide(browser: Awaited<ReturnType<typeof signedIn>>, page: string, sent: object) {
  const { html } = await browser.visit(page)
  const action = /action="([^"]*\/destinations\/[^"]+)"/.exec(html)?.[1]
  return browser.submit({ ...sent }, action)
}

test('a secret goes where its owner approved it in words, and no more once that is taken away', async () => {
  const { use, browser, credential_id } = await home()

  const asked = await use()
  const page = `/web/vault/${credential_id}/destinations`
  const waiting = await browser.visit(approvalIn(asked))
  await decide(browser, page, { decision: 'approved' })
  const sent = await use()
  await decide(browser, page, { decision: 'ended' })
  const ended = await use()

  const words = `POST ${origin}/v1/login?from=app, member "/pass" of the JSON body`
  expect(asked).toMatchObject({
    status: 403,
    body: {
      error: 'destination_not_approved',
      details: { untrusted: { destinations: [words] } },
    },
  })
  expect(waiting.text).toContain('The password')
  expect(waiting.html).toContain(words.replaceAll('"', '&quot;'))
  expect(sent).toMatchObject({ status: 200, body: { response: { status: 200, body: '' } } })
  expect(ended).toMatchObject({ status: 403, body: { error: 'destination_not_approved' } })
  expect(site.received.map(({ body }) => body.toString())).toEqual([
    '{"user":"ada","pass":"a password of mine"}',
  ])
})

test.each([
  ['another path', { path: '/v1/profile' }],
  ['another query', { path: '/v1/login?from=app&next=/profile' }],
  ['another method', { method: 'PUT' }],
  ['another member', { inject: [{ where: 'json_field', pointer: '/bio', secret: 'password' }] }],
  [
    'another body',
    { json: undefined, inject: [{ where: 'form_field', name: 'pass', secret: 'password' }] },
  ],
])('an approved destination is not a destination with %s', async (_, given) => {
  const { use, browser, credential_id } = await home()
  await use()
  await decide(browser, `/web/vault/${credential_id}/destinations`, { decision: 'approved' })

  const answer = await use(given)

  expect(answer).toMatchObject({ status: 403, body: { error: 'destination_not_approved' } })
})

test('a value in a header is approved for every request, one in a body for its path alone', async () => {
  const { agent, use, browser, credential_id } = await home()
  const page = `/web/vault/${credential_id}/destinations`
  const basic = { method: 'GET', path: '/a', json: undefined, inject: [{ where: 'basic' }] }

  await use()
  await decide(browser, page, { decision: 'approved', wide: 'yes' })
  const same = await use({ json: { user: 'eve' } })
  const other = await use({ path: '/v1/notes' })
  await use(basic)
  await decide(browser, page, { decision: 'approved', wide: 'yes' })
  const elsewhere = await use({ ...basic, method: 'DELETE', path: '/b' })

  expect([same.status, other.status, elsewhere.status]).toEqual([200, 403, 200])
  const feed = await (await agent.withKey('read')).get(
    '/wallet-activity-list?category=vault&limit=50',
  )
  expect(JSON.stringify(feed.body)).toContain('destination_approved')
})

test("nobody decides about a stranger's destinations, and an owner only with a fresh proof", async () => {
  const { agent, use, credential_id } = await home()
  const { agent: stranger, browser } = await home()
  await use()
  const [row] = await world.db.sql<{ destination: string }[]>`
    select id as destination from private.vault_destinations where entry = ${credential_id}`
  const approve = { ...row, wide: false }

  const shown = await browser.visit(`/web/vault/${credential_id}/destinations`)
  const theirs = await (await ownerOf(world, stranger)).call('owner_approve_destination', approve)
  const ended = await (await ownerOf(world, stranger)).call('owner_end_destination', row)
  const late = await (await ownerOf(world, agent, 60)).call('owner_approve_destination', approve)

  expect(shown.status).toBe(404)
  expect([theirs, ended, late]).toEqual([[], [], { refused: 'proof_required' }])
  expect(await use()).toMatchObject({ status: 403 })
})

test('a destination that is taken away while a request is made is no destination any more', async () => {
  const { agent, use, browser, credential_id } = await home()
  await use()
  const page = `/web/vault/${credential_id}/destinations`
  await decide(browser, page, { decision: 'approved' })
  const asked = site.received.length
  const late = world.worker({
    async fetch(input, init) {
      if (askedFor(input, init) === 'vault_begin_use')
        await decide(browser, page, { decision: 'ended' })
      return fetch(input, init)
    },
  })

  const answer = await late.post(agent, '/vault-use', { credential_id, ...request })

  expect(answer).toMatchObject({ status: 403, body: { error: 'destination_not_approved' } })
  expect(site.received).toHaveLength(asked)
})

test('destinations are those of one login: another one of its site or name has none', async () => {
  const { agent, use, browser, credential_id } = await home()
  await use()
  await decide(browser, `/web/vault/${credential_id}/destinations`, { decision: 'approved' })
  expect(await use()).toMatchObject({ status: 200 })

  const other = await entryOf(world, agent, { ...login, username: 'other' })
  await world.db.sql`delete from private.vault_entries where id = ${credential_id}`
  const again = await entryOf(world, agent, login)

  for (const id of [other, again]) {
    expect(await use({ credential_id: id })).toMatchObject({ status: 403 })
  }
})

test('destinations that wait are few and forgotten after a day', async () => {
  const { use, credential_id } = await home()
  for (let at = 0; at < 15; at += 1) await use({ path: `/${at}` })
  const waiting = () =>
    world.db.sql`select from private.vault_destinations where entry = ${credential_id}`

  const before = await waiting()
  await world.tick(86_401)
  await world.world.db.call('housekeeping_forget', {})

  expect(before).toHaveLength(10)
  expect(await waiting()).toHaveLength(0)
})
