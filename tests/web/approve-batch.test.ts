/** One approval covers several payments: the page shows each in full, and all or none are approved. */
import { beforeAll, beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { type Authenticator, consentAskedOn } from '../support/authenticator.ts'
import { type Browser, signedIn } from '../support/browserless.ts'
import { paymentOf } from '../support/owner.ts'
import { addPasskey, openPerson, type Person } from '../support/person.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const transfer = '/wallet-custodial-transfer'
const path = '/web/approve-batch'
let world: TestWorld
let person: Person
let owner: Browser
let passkey: Authenticator

beforeAll(async () => {
  world = await start({ chain: true })
})

beforeEach(async () => {
  // A reservation counts twice until it is booked as settled.
  person = await openPerson(world, 3_000)
  owner = await signedIn(world, person.agent)
  passkey = await addPasskey(owner)
})

const asking = z.object({ transfer_id: z.uuid() })

/** Creates waiting payments. Returns them with the requests that an agent repeats to make them. */
async function waiting(amounts: readonly string[], agent: Agent = person.agent) {
  const payments = []
  for (const amount of amounts) {
    const recipient = (await world.agent('read')).address
    const order = { recipient, chain: 'base-sepolia', token: 'USDC', amount }
    const { transfer_id: id } = asking.parse((await agent.post(transfer, order)).body)
    payments.push({ id, order, recipient })
  }
  return payments
}

function pageOf(payments: readonly { id: string }[]): string {
  return `${path}?${payments.map(({ id }) => `payment=${id}`).join('&')}`
}

async function approve(page: string) {
  const { options, digest } = consentAskedOn(await owner.visit(page))
  const answer = passkey.get(options)
  return { answer, digest, shown: await owner.submit({ decision: 'approved', answer }, page) }
}

async function approvals(): Promise<number> {
  const [row] = await world.db.sql<{ count: number }[]>`
    select count(*)::integer from private.approvals where account = ${person.agent.id}`
  return row?.count ?? -1
}

test('payments are chosen on the list, shown in full and approved by one answer', async () => {
  const payments = await waiting(['300', '301', '250'])
  const listed = await owner.visit('/web/approvals')

  const shown = await owner.visit(pageOf(payments))
  const { shown: done } = await approve(pageOf(payments))
  const paid = []
  for (const { id, order } of payments) {
    const again = { ...order, transfer_id: id, user_confirmed: true }
    paid.push((await person.agent.post(transfer, again)).body['consent_level'])
  }

  for (const { id, recipient, order } of payments) {
    expect(listed.html).toContain(`name="payment" value="${id}"`)
    expect(shown.html).toContain(`data-copy="${recipient}"`)
    expect(shown.text).toContain(`${order.amount}.00 USDC`)
  }
  expect(shown.text).toContain('851.00 USD in total')
  expect(shown.text.match(/New recipient/g)).toHaveLength(3)
  expect(done.path).toBe('/web/approvals')
  expect(done.text).toContain('Approved. Transfers are sent')
  expect(paid).toEqual(['user_passkey', 'user_passkey', 'user_passkey'])
})

test('nothing is approved when one of them changed, was decided or is not of the account', async () => {
  const payments = await waiting(['300', '301'])
  const [first, second] = payments
  const [foreign] = await waiting(['300'], await world.agent('pay', { usdc: 1_000 }))
  const page = pageOf(payments)
  const { options, digest } = consentAskedOn(await owner.visit(page))
  const answer = passkey.get(options)
  await world.db
    .sql`update private.payments set memo = 'x', expires_at = expires_at + interval '1 s'
    where id = ${first?.id ?? ''}`

  const changed = await owner.submit({ decision: 'approved', answer, digest }, page)
  await owner.visit(`/web/approve/${second?.id}`)
  await owner.submit({ decision: 'declined' }, `/web/approve/${second?.id}`)
  const alone = await owner.visit(page)
  const other = await owner.visit(pageOf([...payments, foreign ?? { id: '' }]))

  expect(changed.status).toBe(409)
  expect(changed.text).toContain('Nothing was approved')
  for (const { path, text } of [alone, other]) {
    expect(path).toBe('/web/approvals')
    expect(text).toContain('Select at least two waiting payments')
  }
  expect((await paymentOf(world.db, first?.id ?? '')).state).toBe('awaiting_confirmation')
  expect(await approvals()).toBe(1)
})

test('an answer for a batch is good for neither one payment of it nor another batch', async () => {
  const payments = await waiting(['300', '301', '302'])
  const { options, digest } = consentAskedOn(await owner.visit(pageOf(payments.slice(0, 2))))
  const answer = passkey.get(options)
  const single = `/web/approve/${payments[0]?.id}`
  const more = pageOf(payments)

  const statuses = []
  for (const page of [single, more]) {
    await owner.visit(page)
    statuses.push((await owner.submit({ decision: 'approved', answer }, page)).status)
    await owner.visit(page)
    statuses.push((await owner.submit({ decision: 'approved', answer, digest }, page)).status)
  }

  expect(statuses).toEqual([409, 409, 409, 409])
  expect(await approvals()).toBe(0)
})

test('another key or device that took the place of who asked is approved for by nobody', async () => {
  const payments = await waiting(['300', '301'])
  const [first] = payments
  const page = pageOf(payments)
  const { options } = consentAskedOn(await owner.visit(page))
  const thief = await person.agent.withKey('pay')
  const taken = { ...first?.order, transfer_id: first?.id }
  await thief.post(transfer, taken, { 'x-device-id': 'of a thief' })

  const shown = await owner.submit({ decision: 'approved', answer: passkey.get(options) }, page)

  expect(shown.status).toBe(409)
  expect(await approvals()).toBe(0)
})

test('an account without a passkey approves a batch after a proof', async () => {
  const other = await openPerson(world, 1_000)
  const browser = await signedIn(world, other.agent)
  const payments = await waiting(['300', '301'], other.agent)
  const page = pageOf(payments)
  await world.tick(11 * 60)
  await browser.visit(page)

  const asked = await browser.submit({ decision: 'approved' }, page)
  const back = await browser.submit({ password: other.password }, '/web/proof')
  const done = await browser.submit({ decision: 'approved' }, page)

  expect(asked.path).toBe(`/web/proof?next=${encodeURIComponent(page)}`)
  expect(back.path).toBe(page)
  expect(done.path).toBe('/web/approvals')
})

test('too few, none and the same one twice lead back to the list', async () => {
  const [one] = await waiting(['300'])
  const id = one?.id ?? ''

  const shown = await Promise.all(
    ['', `?payment=${id}`, `?payment=${id}&payment=${id}`, '?payment=x&payment=y'].map((query) =>
      owner.visit(path + query),
    ),
  )

  for (const { status, text } of shown) {
    expect(status).toBe(200)
    expect(text).toContain('Select at least two waiting payments')
  }
})
