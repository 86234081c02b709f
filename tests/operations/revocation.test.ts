/** A mandate, payment or link of a key or app is for it alone, and ends with it. */
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { appWith } from '../support/capped.ts'
import { failedRules, giveMandate } from '../support/mandates.ts'
import { feedOf, ownerOf, paymentOf } from '../support/owner.ts'
import { approveDestination, askDestination, entryOf } from '../support/vault-rows.ts'
import { type Agent, pepper, start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
const order = { chain: 'base-sepolia', token: 'USDC' }

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

/** Creates a mandate that the account's first key requested, for one payee. */
async function household(anyKey = false) {
  const payer = await world.agent('pay', { usdc: 2000 })
  const payee = await world.agent('read')
  const terms = { pay_to: [payee.address], max_payment_usd_micros: '500000000' }
  const given = await giveMandate(world, payer, terms, anyKey)
  return { payer, payee, mandate: given.id, owner: given.owner }
}

const pay = (payer: Agent, recipient: string, amount: string, more = {}, headers = {}) =>
  payer.post(path, { ...order, recipient, amount, ...more }, headers)

async function keyOf({ key }: Agent): Promise<string> {
  const digest = await credentialOf(key, pepper)
  const [row] = await world.db.sql<{ id: string }[]>`
    select id from private.credentials where digest = ${digest}`
  return row?.id ?? ''
}

describe('a mandate', () => {
  test('is for the key that asked for it, from the device that asked, and makes neither known', async () => {
    const { payer, payee, mandate } = await household()
    const other = await payer.withKey('full')

    const own = await pay(payer, payee.address, '20')
    const elsewhere = await pay(payer, payee.address, '20', {}, { 'x-device-id': 'another' })
    const others = await pay(other, payee.address, '20')

    expect(own.body).toMatchObject({ covered_by: { mandate_id: mandate } })
    expect(failedRules(elsewhere.body, mandate)).toMatchObject([{ code: 'new_device' }])
    expect(failedRules(others.body, mandate)).toMatchObject([{ code: 'other_key' }])
    const known = await world.db.sql`
      select from private.known_devices where account = ${payer.id}`
    expect(known).toHaveLength(0)
  })

  test('is for any key where the owner ticked that, from a device that the owner knows', async () => {
    const { payer, payee, mandate } = await household(true)
    const other = await payer.withKey('full')

    const unknown = await pay(other, payee.address, '20')
    await world.acquaint(payer, (await world.agent('read')).address)
    const known = await pay(other, payee.address, '20')

    expect(failedRules(unknown.body, mandate)).toMatchObject([{ code: 'new_device' }])
    expect(known.body).toMatchObject({ covered_by: { mandate_id: mandate } })
  })
})

describe('revoking a key', () => {
  test('closes what waits for the owner, its mandates and its links, in the same transaction', async () => {
    const { payer, payee, mandate, owner } = await household()
    const other = await payer.withKey('full')
    const { address } = await world.agent('read')
    const asked = await pay(payer, address, '400')
    const payment = z.uuid().parse(asked.body['transfer_id'])
    const approved = await pay(payer, (await world.agent('read')).address, '400')
    const second = z.uuid().parse(approved.body['transfer_id'])
    await owner.decide(second, 'approved')
    const wanted = await payer.post('/payment-mandate-create', {
      merchant_domain: 'shop.example',
      max_amount_per_payment_usd: '1',
      ttl_seconds: 3600,
    })
    const link = await payer.post('/create-hosted-action', { action_type: 'deposit' })

    await owner.call('owner_revoke_key', { key: await keyOf(payer) })

    expect(await owner.decide(payment, 'approved')).toBe('expired')
    expect((await paymentOf(world.db, payment)).state).toBe('expired')
    expect((await paymentOf(world.db, second)).state).toBe('expired')
    expect(await pay(other, address, '400', { transfer_id: payment })).toMatchObject({
      body: {
        error: 'payment_closed',
        message: 'The payment was closed: the key or app that asked for it was revoked.',
      },
    })
    const statusOf = async (id: unknown) => {
      const { body } = await other.get(`/payment-mandate-status?mandate_id=${String(id)}`)
      return z.looseObject({ status: z.string() }).array().parse(body['mandates'])[0]?.status
    }
    expect(await statusOf(mandate)).toBe('revoked')
    expect(await statusOf(wanted.body['mandate_id'])).toBe('revoked')
    const action = await other.get(
      `/hosted-action-status?action_id=${String(link.body['action_id'])}`,
    )
    expect(action.body).toMatchObject({ status: 'expired' })
    expect(await feedOf(world.db, payer)).toContain('requests_closed')
    expect((await pay(other, payee.address, '400')).body['status']).toBe('awaiting_confirmation')
  })

  test('leaves what other keys asked for, and what the owner gave to any key', async () => {
    const { payer, payee, mandate, owner } = await household(true)
    const other = await payer.withKey('full')
    const asked = await pay(other, (await world.agent('read')).address, '400')
    const payment = z.uuid().parse(asked.body['transfer_id'])
    await world.acquaint(payer, (await world.agent('read')).address)

    await owner.call('owner_revoke_key', { key: await keyOf(payer) })

    expect(await owner.decide(payment, 'approved')).toBe('approved')
    expect((await pay(other, payee.address, '20')).body).toMatchObject({
      covered_by: { mandate_id: mandate },
    })
  })
})

test('revoking a key takes back the places of secrets that it asked for, and none that is approved', async () => {
  const { payer, owner } = await household()
  const other = await payer.withKey('vault')
  const entry = await entryOf(world, payer, { site: 'https://shop.example', password: 'mine' })
  await approveDestination(world, entry, { path: '/approved' })
  await askDestination(world, await credentialOf(other.key, pepper), entry, '/of-another')
  await askDestination(world, await credentialOf(payer.key, pepper), entry, '/of-the-key')

  await owner.call('owner_revoke_key', { key: await keyOf(payer) })

  const places = await world.db.sql`
    select path from private.vault_destinations where account = ${payer.id} order by path`
  expect(places.map((row) => String(row['path']))).toEqual(['/approved', '/of-another'])
})

test('disconnecting an app closes what it asked for', async () => {
  const { payer, owner } = await household()
  const app = await appWith(world, payer)
  const asked = await pay(app, (await world.agent('read')).address, '400')
  const payment = z.uuid().parse(asked.body['transfer_id'])

  expect(await owner.call('owner_disconnect_apps')).toEqual([{ disconnected: 1 }])

  expect((await paymentOf(world.db, payment)).state).toBe('expired')
})

test('what a key asked for that has expired cannot be approved any more', async () => {
  const { payer } = await household()
  const asked = await pay(payer, (await world.agent('read')).address, '400')
  const payment = z.uuid().parse(asked.body['transfer_id'])
  await world.db.sql`update private.credentials set expires_at = private.clock()
    where id = ${await keyOf(payer)}`

  expect(await (await ownerOf(world, payer)).decide(payment, 'approved')).toBe('closed')
})

test('a key that replaces another goes on with its mandates, also once that is revoked', async () => {
  const { payer, payee, mandate, owner } = await household()
  const old = await keyOf(payer)
  const other = await payer.withKey('full')
  await world.db.sql`update private.credentials set shares_budget_of = ${old}
    where id = ${await keyOf(other)}`

  await owner.call('owner_revoke_key', { key: old })
  expect((await pay(other, payee.address, '20')).body).toMatchObject({
    covered_by: { mandate_id: mandate },
  })
  const reader = await payer.withKey('read')
  await owner.call('owner_revoke_key', { key: await keyOf(other) })
  const { body } = await reader.get(`/payment-mandate-status?mandate_id=${mandate}`)
  expect(body).toMatchObject({ mandates: [{ status: 'revoked' }] })
})
