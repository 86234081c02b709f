/** Only the account gets a consent receipt, and it states exactly what the owner approved. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { openBrowser } from '../support/browserless.ts'
import { authorizeRequest, passkeyOwnerOf, waitingPayment } from '../support/consents.ts'
import { anyText } from '../support/matching.ts'
import { ownerOf } from '../support/owner.ts'
import { randomUUID } from '../support/seed.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start()
})

const path = '/consent-receipt'
const ofPayment = (agent: Agent, id: string) => agent.get(`${path}?payment_id=${id}`)
const ofMandate = (agent: Agent, id: string) => agent.get(`${path}?mandate_id=${id}`)

async function household() {
  const agent = await world.agent('full')
  return { agent, owner: await passkeyOwnerOf(world, agent) }
}

const headed = z.object({
  receipt: z.string(),
  public_keys: z.object({ keys: z.array(z.object({ kid: z.string() })) }),
})

function statedIn(body: unknown) {
  const [header = '', claims = ''] = headed.parse(body).receipt.split('.')
  const read = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString())
  return { header: read(header), claims: read(claims) }
}

test('states what the passkey signed, for a payment', async () => {
  const { agent, owner } = await household()
  const payment = await waitingPayment(world, agent)
  await owner.approve(payment)

  const { status, body } = await ofPayment(agent, payment)

  const terms = {
    payment_id: payment,
    account_id: agent.id,
    type: 'x402',
    amount_atomic: '5000000',
  }
  const [added] = await world.db.sql<{ at: Date }[]>`
    select created_at as at from private.passkeys where account = ${agent.id}`
  expect(status).toBe(200)
  expect(body).toMatchObject({ level: 'user_passkey', terms, gap_id: 'GAP_PAYMENT_MANDATE_V1' })
  const { header, claims } = statedIn(body)
  const [key] = headed.parse(body).public_keys.keys
  expect(header).toEqual({ alg: 'ES256', typ: 'aoa-consent-receipt+jwt', kid: key?.kid })
  expect(claims).toMatchObject({
    iss: 'http://localhost/web',
    v: 1,
    terms,
    digest: body['digest'],
    level: 'user_passkey',
    decided_at: body['decided_at'],
    passkey: {
      id: owner.passkey.id,
      added_at: added?.at.toISOString(),
      public_key: owner.passkey.key.cose.toString('base64url'),
    },
    origin: 'http://localhost',
    rp_id: 'localhost',
  })
})

test('states which batch a payment was approved in, and a mandate with its terms', async () => {
  const { agent, owner } = await household()
  const payments = [await waitingPayment(world, agent), await waitingPayment(world, agent)]
  await owner.approveBatch(payments)
  const mandate = await owner.grant(agent, { merchant_domain: 'shop.example' })

  const bodies = [
    (await ofPayment(agent, payments[0] ?? '')).body,
    (await ofPayment(agent, payments[1] ?? '')).body,
    (await ofMandate(agent, mandate)).body,
  ]

  const [one, two, under] = bodies.map((body) => statedIn(body).claims)
  const batch = { leaves: [anyText, anyText] }
  expect(one).toMatchObject({ batch, terms: { payment_id: payments[0] } })
  expect(two).toMatchObject({
    batch,
    terms: { payment_id: payments[1] },
    digest: bodies[0]?.['digest'],
  })
  expect(under).toMatchObject({ terms: { type: 'mandate', merchant_domain: 'shop.example' } })
  expect(under).not.toHaveProperty('batch')
})

test('states that somebody signed in approved, where there is no passkey', async () => {
  const agent = await world.agent('read')
  const payer = await agent.withKey('pay')
  const payment = await waitingPayment(world, payer)
  await (await ownerOf(world, agent)).decide(payment, 'approved')

  const { claims } = statedIn((await ofPayment(agent, payment)).body)

  expect(claims).toMatchObject({ level: 'user_session', terms: { payment_id: payment } })
  expect(claims).not.toHaveProperty('passkey')
})

test('the owner may ask for it in a session, and finds the keys published', async () => {
  const { agent, owner } = await household()
  const payment = await waitingPayment(world, agent)
  await owner.approve(payment)
  const { body } = await ofPayment(agent, payment)

  const inSession = await owner.call('find_consent', { payment })
  const { html } = await openBrowser(world).send('/web/receipt-keys.json')

  expect(inSession).toMatchObject([{ consent: { level: 'user_passkey' } }])
  expect(JSON.parse(html)).toEqual(body['public_keys'])
  expect(body['public_keys_url']).toBe('http://localhost/web/receipt-keys.json')
  expect(html).not.toContain('"d"')
})

test('there is none of what waits, was declined, or was taken back', async () => {
  const { agent, owner } = await household()
  const [waiting, declined, taken] = [
    await waitingPayment(world, agent),
    await waitingPayment(world, agent),
    await waitingPayment(world, agent),
  ]
  await owner.decide(declined, 'declined')
  await owner.approve(taken)
  await owner.decide(taken, 'declined')

  for (const payment of [waiting, declined, taken]) {
    expect(await ofPayment(agent, payment)).toMatchObject({
      status: 404,
      body: { error: 'consent_not_found' },
    })
  }
})

test('for a payment under a mandate it says which mandate was consented to', async () => {
  const { agent, owner } = await household()
  const mandate = await owner.grant(agent, { merchant_domain: 'shop.example' })
  const payment = await waitingPayment(world, agent)
  await world.db.sql`update private.payments set verified_with_merchant = true,
    device = (select device from private.mandates where id = ${mandate}) where id = ${payment}`
  const request = await authorizeRequest(world, agent, payment, 'mandate', mandate)
  expect(await world.world.custody?.authorize(request)).toMatchObject({ outcome: 'signed' })

  expect(await ofPayment(agent, payment)).toMatchObject({
    status: 404,
    body: { error: 'consent_not_found', details: { mandate_id: mandate } },
  })
  expect((await ofMandate(agent, mandate)).status).toBe(200)
})

test("a stranger's payment and mandate are answered as none", async () => {
  const [mine, theirs] = [await household(), await household()]
  const payment = await waitingPayment(world, theirs.agent)
  await theirs.owner.approve(payment)
  const mandate = await theirs.owner.grant(theirs.agent)
  const refusals = async (one: string, other: string) => [
    await ofPayment(mine.agent, one),
    await ofMandate(mine.agent, other),
  ]

  const strange = await refusals(payment, mandate)
  const missing = await refusals(randomUUID(), randomUUID())

  expect(strange.map(({ body }) => body['error'])).toEqual([
    'payment_not_found',
    'mandate_not_found',
  ])
  expect(missing.map(({ body }) => body['message'])).toEqual(
    strange.map(({ body }) => body['message']),
  )
})

test('what was changed in the database is stated by no receipt', async () => {
  const { agent, owner } = await household()
  const [amount, signature] = [
    await waitingPayment(world, agent),
    await waitingPayment(world, agent),
  ]
  await owner.approve(amount)
  await owner.approve(signature)
  await world.db.sql`update private.payments set amount_atomic = 1 where id = ${amount}`
  await world.db.sql`update private.consents c set signature = o.signature from private.consents o
    where c.id = (select consent from private.approvals where payment = ${signature})
      and o.id = (select consent from private.approvals where payment = ${amount})`

  for (const payment of [amount, signature]) {
    expect(await ofPayment(agent, payment)).toMatchObject({
      status: 409,
      body: { error: 'consent_invalid' },
    })
  }
})

test('it is asked for one thing', async () => {
  const { agent } = await household()
  const id = randomUUID()

  expect((await agent.get(path)).status).toBe(400)
  expect((await agent.get(`${path}?payment_id=${id}&mandate_id=${id}`)).status).toBe(400)
})
