/** Events of an account arrive at its webhooks once, signed, and nowhere else. The official package verifies. */
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { deliverEvents } from '../../shared/webhooks/deliver.ts'
import { resolveAll } from '../support/books.ts'
import { type Answering, answering, expiring, type Received, serverThat } from '../support/http.ts'
import { type Agent, finalize, start } from '../support/world.ts'

const aoa = await start({ chain: true })
const { db, world } = aoa

const created = z.object({ webhook_id: z.uuid(), url: z.url(), secret: z.string() })
const eventBody = z.object({
  type: z.string(),
  timestamp: z.iso.datetime(),
  data: z.looseObject({ activity_id: z.string() }),
})

async function create(agent: Agent, url: string) {
  const answer = await agent.post('/account-webhook-create', { url })
  expect(answer.status).toBe(200)
  return created.parse(answer.body)
}

/** Makes a webhook of an account at a receiver that answers so. */
async function open(answer: Answering = answering(204), agent?: Agent) {
  const owner = agent ?? (await aoa.agent('pay', { usdc: 10 }))
  const receiver = await serverThat(answer)
  const webhook = await create(owner, `${receiver.url}hook`)
  return { agent: owner, receiver, ...webhook }
}

const happen = (agent: Agent) =>
  db.sql`insert into private.activities (account, category, type, summary)
    values (${agent.id}, 'account', 'noted', 'Something happened.')`

const idsOf = (received: Received[]) => received.map(({ headers }) => headers['webhook-id'])
const typesOf = (received: Received[]) =>
  received.map(({ body }) => eventBody.parse(JSON.parse(body.toString())).type)

async function listed(agent: Agent) {
  const { body } = await agent.get('/account-webhook-list')
  return z.object({ webhooks: z.array(z.looseObject({})) }).parse(body).webhooks
}

/** Runs the mailer each minute. */
async function deliverFor(minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await deliverEvents(world)
    await aoa.tick(61)
  }
}

test('a payment, its settlement and a freeze arrive once, as the feed shows them', async () => {
  const { agent, receiver, secret } = await open()
  const payee = await aoa.agent('read')
  await aoa.acquaint(agent, payee.address)
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '1' }

  await agent.post('/wallet-custodial-transfer', order)
  await deliverEvents(world)
  for (const { headers, body } of receiver.received) {
    const sent = z.record(z.string(), z.string()).parse(headers)
    expect(eventBody.parse(new Webhook(secret).verify(body, sent))).toBeDefined()
  }
  await resolveAll(aoa)
  await finalize(aoa.chain)
  await runHousekeeping(world)
  await agent.post('/account-freeze', {})
  await Promise.all([deliverEvents(world), deliverEvents(world)])
  await deliverFor(2)

  expect(typesOf(receiver.received)).toEqual([
    'security.webhook_created',
    'transfer.authorized',
    'deposit.received',
    'transfer.settled',
    'security.account_frozen',
  ])
  expect(new Set(idsOf(receiver.received)).size).toBe(5)
  const { body } = await agent.get('/wallet-activity-list')
  const { items } = z.object({ items: z.array(z.unknown()) }).parse(body)
  const { data } = eventBody.parse(JSON.parse(String(receiver.received.at(-1)?.body)))
  expect(data).toEqual(items[0])
})

test('a signature is of this body, this id and this webhook', async () => {
  const { receiver, secret, agent } = await open()
  const other = await open(answering(204), agent)
  await deliverEvents(world)
  const [first] = receiver.received
  const sent = z.record(z.string(), z.string()).parse(first?.headers)
  const text = String(first?.body)

  expect(() => new Webhook(secret).verify(text, sent)).not.toThrow()
  expect(() => new Webhook(other.secret).verify(text, sent)).toThrow()
  expect(() => new Webhook(secret).verify(`${text} `, sent)).toThrow()
  expect(() => new Webhook(secret).verify(text, { ...sent, 'webhook-id': '1' })).toThrow()
})

test('an event that did not arrive is sent again under its id, and holds up no other', async () => {
  let refused: string | undefined
  const { agent, receiver } = await open((response, { headers }) => {
    refused ??= String(headers['webhook-id'])
    response.writeHead(headers['webhook-id'] === refused ? 500 : 200).end()
  })
  await deliverEvents(world)
  await happen(agent)
  await happen(agent)

  await deliverFor(10)

  const ids = idsOf(receiver.received)
  expect(ids.filter((id) => id === refused).length).toBeGreaterThan(2)
  expect(new Set(ids).size).toBe(3)
  expect(ids.filter((id) => id !== refused)).toHaveLength(2)
})

test('an event is tried ten times within four days, and then given up', async () => {
  let refused: string | undefined
  const { agent, receiver } = await open((response, { headers }) => {
    refused ??= String(headers['webhook-id'])
    response.writeHead(headers['webhook-id'] === refused ? 500 : 200).end()
  })
  for (let hours = 0; hours < 96; hours += 1) {
    await deliverEvents(world)
    if (hours % 12 === 0) await happen(agent)
    await aoa.tick(3_601)
  }

  expect(idsOf(receiver.received).filter((id) => id === refused)).toHaveLength(10)
  expect(await listed(agent)).toMatchObject([{ waiting: 0, failing_since: null, ended_at: null }])
})

test('a webhook where nothing arrives for five days ends, and goes on when it is asked to', async () => {
  let status = 503
  const { agent, receiver, webhook_id } = await open((response) => response.writeHead(status).end())
  const since = world.now().toISOString()
  for (let day = 0; day < 7; day += 1) {
    await happen(agent)
    await deliverEvents(world)
    await aoa.tick(86_400)
  }
  const tries = receiver.received.length
  await happen(agent)
  await deliverEvents(world)
  const ended = await listed(agent)
  status = 200
  const replayed = await agent.post('/account-webhook-replay', { webhook_id, since })
  await deliverFor(3)

  expect([ended[0]?.['waiting'], ended[0]?.['failed_reason']]).toEqual([
    0,
    'The address answered 503.',
  ])
  expect(ended[0]?.['ended_at']).not.toBeNull()
  expect(tries).toBeLessThan(10)
  expect(replayed.status).toBe(200)
  expect(await listed(agent)).toMatchObject([{ waiting: 0, failing_since: null, ended_at: null }])
  const arrived = idsOf(receiver.received.slice(tries))
  expect(new Set(arrived).size).toBe(arrived.length)
  expect(arrived).toEqual(expect.arrayContaining(idsOf(receiver.received.slice(0, tries))))
})

test('a receiver that says that it is gone is asked once', async () => {
  const { agent, receiver } = await open(answering(410))

  await deliverFor(3)

  expect(receiver.received).toHaveLength(1)
  expect((await listed(agent))[0]?.['ended_at']).not.toBeNull()
})

test('no redirect is followed, and neither silence nor a large answer holds up another webhook', async () => {
  const elsewhere = await serverThat(answering(200))
  const redirecting = await open(answering(307, { location: elsewhere.url }))
  const silent = await open(expiring(aoa))
  const large = await open(answering(200, {}, 'a'.repeat(100_000)))

  await deliverEvents(world)

  expect(elsewhere.received).toEqual([])
  expect(await listed(redirecting.agent)).toMatchObject([
    { waiting: 1, failed_reason: 'The address redirects.' },
  ])
  expect(await listed(silent.agent)).toMatchObject([
    { waiting: 1, failed_reason: 'No answer came in time.' },
  ])
  expect(await listed(large.agent)).toMatchObject([{ waiting: 0, failing_since: null }])
})

test.each([
  'http://shop.example/hook',
  'https://10.0.0.1/hook',
  'https://intern/hook',
  'https://a:b@shop.example/hook',
  'https://shop.example:8443/hook',
])('%s is refused as an address', async (url) => {
  const agent = await aoa.agent('pay')

  const { status, body } = await agent.post('/account-webhook-create', { url })

  expect([status, body['error']]).toEqual([422, 'webhook_refused'])
  expect(body['hint']).toBeTypeOf('string')
})

test('nothing is sent any more for a key that was revoked', async () => {
  const { agent, receiver } = await open()
  await deliverEvents(world)
  await db.sql`update private.credentials set revoked_at = private.clock()
    where account = ${agent.id}`
  await happen(agent)

  await deliverFor(2)

  expect(receiver.received).toHaveLength(1)
})

test('an account has five webhooks, and reaches none of another account', async () => {
  const { agent, receiver, webhook_id } = await open()
  const stranger = await aoa.agent('pay')
  const since = world.now().toISOString()
  const urls = Array.from({ length: 5 }, (_, nth) => `${receiver.url}${nth}`)
  const statuses: number[] = []
  for (const url of urls)
    statuses.push((await agent.post('/account-webhook-create', { url })).status)

  expect(statuses).toEqual([200, 200, 200, 200, 409])
  expect((await stranger.post('/account-webhook-replay', { webhook_id, since })).status).toBe(404)
  expect((await stranger.post('/account-webhook-delete', { webhook_id })).body['deleted']).toBe(
    false,
  )
  expect(await listed(stranger)).toEqual([])
  expect((await agent.post('/account-webhook-delete', { webhook_id })).body['deleted']).toBe(true)
  expect(await listed(agent)).toHaveLength(4)
})

test('a key that may only read sees webhooks and makes none', async () => {
  const { agent } = await open()
  const reader = await agent.withKey('read')

  const { status } = await reader.post('/account-webhook-create', { url: 'https://shop.example/' })

  expect(status).toBe(403)
  expect(await listed(reader)).toHaveLength(1)
})

test('a secret is shown once: neither the database nor the log has it', async () => {
  const { agent, secret, webhook_id } = await open()
  const bytes = secret.slice('whsec_'.length)
  await deliverEvents(world)

  const [stored] = await db.sql`select w::text as text from private.webhooks w
    where id = ${webhook_id}`
  const shown = await agent.get('/account-webhook-list')

  for (const text of [stored, shown.body, aoa.log].map((one) => JSON.stringify(one))) {
    expect(text).not.toContain(bytes)
  }
})
