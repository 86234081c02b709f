/** A settled payment counts for a defined time, however often its settlement appears and is taken back. */
import { expect, test } from 'vitest'
import { start } from '../support/world.ts'

const world = await start()
const { db } = world
const payee = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const tx = `0x${'ab'.repeat(32)}`
const daySeconds = 86_400

/** Inserts a payment that was just signed and is valid for five minutes. */
async function signed() {
  const payer = await world.agent('pay')
  const [row] = await db.sql<{ id: string }[]>`
    insert into private.payments (account, key, device, kind, state, chain, token, wallet, payee,
      amount_atomic, amount_usd_micros, expires_at, consent_level, authorized_at, valid_before,
      finality)
    select account, id, 'device', 'x402', 'signed', 84532, ${payee}, ${payer.address}, ${payee},
      40, 40, private.clock(), 'none', private.clock(),
      floor(extract(epoch from private.clock()))::bigint + 300, 'submitted'
    from private.credentials where account = ${payer.id} returning id`
  if (!row) throw new Error('no payment was entered')
  return { account: payer.id, id: row.id }
}

async function spent(account: string): Promise<number> {
  const [row] = await db.sql<{ total: string }[]>`
    select (private.spent(${account})).total::text as total`
  return Number(row?.total)
}

const settle = (id: string, block: string, label = 'included') =>
  db.sql`select private.settle(${id}, ${tx}, 1, ${block}, null, ${label})`
const takeBack = (id: string, block: string) => db.sql`select private.unsettle(${id}, ${block})`

test('a settlement that is shown again in its block counts from when it was first shown', async () => {
  const { account, id } = await signed()
  await settle(id, 'block')
  await world.tick(200)
  await takeBack(id, 'block')
  await world.tick(40)
  const between = await spent(account)
  await settle(id, 'block', 'finalized')

  await world.tick(daySeconds - 241)
  const before = await spent(account)
  await world.tick(2)

  expect([between, before, await spent(account)]).toEqual([40, 40, 0])
})

test('one that moves to another block counts from then', async () => {
  const { account, id } = await signed()
  await settle(id, 'block')
  await world.tick(200)
  await takeBack(id, 'block')
  await settle(id, 'another', 'finalized')

  await world.tick(daySeconds - 1)
  const before = await spent(account)
  await world.tick(2)

  expect([before, await spent(account)]).toEqual([40, 0])
})

test('one that is final in another block than those it was shown in counts for a day from then', async () => {
  const { account, id } = await signed()
  for (let hour = 0; hour < 48; hour += 1) {
    await settle(id, `block ${hour}`)
    await takeBack(id, `block ${hour}`)
    await world.tick(3_600)
  }
  const during = await spent(account)
  await settle(id, 'block', 'finalized')

  await world.tick(daySeconds - 1)
  const before = await spent(account)
  await world.tick(2)

  expect([during, before, await spent(account)]).toEqual([40, 40, 0])
})

test('one that is first seen long after its end counts for a day from then', async () => {
  const { account, id } = await signed()
  await world.tick(2 * daySeconds)
  await settle(id, 'block', 'finalized')

  await world.tick(daySeconds - 1)
  const before = await spent(account)
  await world.tick(2)

  expect([before, await spent(account)]).toEqual([40, 0])
})

test('a settlement that may still be replaced counts for a day from the end of its signature', async () => {
  const { account, id } = await signed()
  await settle(id, 'block')

  await world.tick(300 + daySeconds)

  expect(await spent(account)).toBe(40)
})

test('what is taken back has no time of its settlement', async () => {
  const { id } = await signed()
  await settle(id, 'block')
  await takeBack(id, 'block')

  const [row] = await db.sql<{ at: unknown }[]>`
    select private.payment_json(p) ->> 'settled_at' as at from private.payments p where id = ${id}`

  expect(row).toEqual({ at: null })
})

test('nothing is settled without a word on how final that is', async () => {
  const { id } = await signed()

  const booked = db.sql`update private.payments set state = 'settled', block_hash = 'block',
    finality = null where id = ${id}`

  await expect(booked).rejects.toThrow(/violates check constraint/)
})
