/** When a freeze affects more payments than one answer holds, its pages name each one, as of the freeze. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { hex, newKey } from '../support/chain-world.ts'
import { sendAs } from '../support/deposits.ts'
import { acquainted } from '../support/ledger.ts'
import { type Signed, signedPayment } from '../support/signed.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const path = '/account-freeze'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

const named = z.array(z.object({ payment_id: z.uuid(), why: z.string() }))
const page = z.object({
  frozen_at: z.string(),
  may_settle: named,
  stopped: named,
  next_cursor: z.string().nullable(),
})

/** Requests one page and returns everything that it names. */
async function pageOf(agent: Agent, cursor?: string | null) {
  await world.db.sql`delete from private.rate_buckets`
  const { status, body } = await agent.post(path, typeof cursor === 'string' ? { cursor } : {})
  expect(status).toBe(200)
  const read = page.parse(body)
  return { ...read, all: [...read.may_settle, ...read.stopped] }
}

/** Returns a payer with one large signed payment and `small` signed payments of a small amount. */
async function crowded(small: number, micros = 1) {
  const { payer, payee } = await acquainted(world)
  const signed = await signedPayment(world, payer, payee.address)
  await world.db.sql`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_before,
      authorization_nonce, signature)
    select account, key, device, kind, state, chain, token, wallet, payee, 1, ${micros}, expires_at,
      consent_level, authorized_at, valid_before, '0x' || lpad(to_hex(n), 64, '0'), signature
      from private.payments, generate_series(1, ${small}) n where id = ${signed.paymentId}`
  return { payer, signed }
}

async function restOf(agent: Agent, first: Awaited<ReturnType<typeof pageOf>>) {
  const ids = first.all.map(({ payment_id: id }) => id)
  let last = first
  while (last.next_cursor !== null) {
    last = await pageOf(agent, last.next_cursor)
    ids.push(...last.all.map(({ payment_id: id }) => id))
    expect(last.frozen_at).toBe(first.frozen_at)
  }
  return { ids, last }
}

async function idsOf({ id }: Agent): Promise<string[]> {
  const rows = await world.db.sql<{ id: string }[]>`
    select id from private.payments where account = ${id} order by id`
  return rows.map((row) => row.id)
}

const use = ({ calldata }: Signed) => sendAs(world, newKey().at, hex(calldata))

test('every open payment is named once, whatever settles or ends between the pages', async () => {
  const { payer, signed } = await crowded(2_100, 9_000_000)
  const first = await pageOf(payer)
  await use(signed)
  await payer.post('/transfer-status', { transfer_id: signed.paymentId })
  const [ended] = await world.db.sql<{ id: string }[]>`
    update private.payments set state = 'released', failure = 'it ended unused' where id in (
      select id from private.payments where account = ${payer.id} and state = 'signed'
       order by id desc limit 1) returning id`

  const { ids, last } = await restOf(payer, first)

  expect(first.all).toHaveLength(1_000)
  expect(ids.toSorted()).toEqual(await idsOf(payer))
  expect(last.stopped).toContainEqual({ payment_id: ended?.id, why: 'ended' })
  expect(last.may_settle).toContainEqual({ payment_id: signed.paymentId, why: 'in_block' })
})

test('the same page names the same payments, however often it is asked for', async () => {
  const { payer, signed } = await crowded(1_010)
  const once = await pageOf(payer)
  await use(signed)
  await payer.post('/transfer-status', { transfer_id: signed.paymentId })
  const again = await pageOf(payer)

  const ids = ({ all }: typeof once) => all.map(({ payment_id: id }) => id).toSorted()
  expect(ids(again)).toEqual(ids(once))
  expect(once.all).toContainEqual({ payment_id: signed.paymentId, why: 'handed_over' })
})

test('a cursor of a freeze that was ended begins the list of the next one', async () => {
  const { payer } = await crowded(1_001)
  const first = await pageOf(payer)
  await world.db.sql`update private.accounts set frozen_at = null where id = ${payer.id}`
  await world.tick(60)

  const next = await pageOf(payer, first.next_cursor)

  expect(next.frozen_at).not.toBe(first.frozen_at)
  expect(next.all).toHaveLength(1_000)
})
