/** A thief with a key takes, through the real interface, at most what the account's exposure says. */
import { afterEach, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { acquainted, proven, usdcOf } from '../support/ledger.ts'
import { ownerOf } from '../support/owner.ts'
import { anew } from '../support/wish.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const path = '/wallet-custodial-transfer'
const heldUsd = 3000

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})
afterEach(() => mining(true))

const mining = (isOn: boolean) =>
  callRpc(world.chain.rpcUrl, [['evm_setAutomine', isOn], ...(isOn ? [['evm_mine'] as const] : [])])

const horizonsOf = z.object({
  horizons: z.array(z.object({ total_usd: z.string(), bound_by: z.array(z.string()) })),
})
const exposureOf = async (agent: Agent) =>
  horizonsOf.parse((await agent.get('/account-exposure')).body).horizons
const leftOf = async (agent: Agent) => heldUsd - Number(await usdcOf(world, agent)) / 1e6

type More = { user_confirmed?: boolean; transfer_id?: unknown }
async function send(agent: Agent, { address }: Agent, amount: string, more: More = {}) {
  const order = { chain: 'base-sepolia', token: 'USDC', amount, recipient: address, ...more }
  const answer = await agent.post(path, more.transfer_id ? order : anew(order))
  const { status, transfer_id, tx_hash } = answer.body
  if (status === 'submitted') await proven(agent, tx_hash)
  return { status, transfer_id }
}

/** Sends a transfer that waits for the owner, and approves it as the owner. */
async function approved(agent: Agent, payee: Agent, amount: string) {
  const { transfer_id } = await send(agent, payee, amount, { user_confirmed: true })
  await (await ownerOf(world, agent)).decide(String(transfer_id), 'approved')
  return { user_confirmed: true, transfer_id }
}

/** Tries every kind of payment that the limits still allow. */
async function takeRest(agent: Agent, payee: Agent) {
  for (const amount of ['190', '10', '1', '0.000001']) {
    for (const user_confirmed of [true, false]) await send(agent, payee, amount, { user_confirmed })
  }
}

test('what the owner approved leaves beside what the limits let through', async () => {
  const { payer, payee } = await acquainted(world, heldUsd)
  const order = await approved(payer, payee, '600')

  const [hour] = await exposureOf(payer)
  await send(payer, payee, '600', order)
  await takeRest(payer, payee)

  expect(hour).toEqual({ total_usd: '1000', bound_by: ['daily_spending_cap'] })
  expect(await leftOf(payer)).toBe(1000)
})

test('what the owner approved may still be paid when its signing was cut off', async () => {
  const { payer, payee } = await acquainted(world, heldUsd)
  await world.db.sql`update private.accounts set automatic_daily_limit_usd_micros = 0,
    asserted_daily_limit_usd_micros = 0 where id = ${payer.id}`
  const order = await approved(payer, payee, '900')
  await world.db.sql`update private.payments set state = 'authorized', authorized_at =
    private.clock(), valid_before = 1, consent_level = 'user_session' where id = ${String(order.transfer_id)}`
  await world.tick(21)

  const [hour] = await exposureOf(payer)
  await send(payer, payee, '900', order)

  expect(hour).toMatchObject({ total_usd: '900' })
  expect(await leftOf(payer)).toBe(900)
})

test('what the owner approved opens no limit where nobody new may be paid', async () => {
  const payer = await world.agent('pay', { usdc: heldUsd })
  const payee = await world.agent('read')
  await world.db.sql`update private.accounts set asserted_new_recipient_limit_usd_micros = 0
    where id = ${payer.id}`
  const [before] = await exposureOf(payer)
  const order = await approved(payer, payee, '500')

  const [hour] = await exposureOf(payer)
  await send(payer, payee, '500', order)
  await takeRest(payer, payee)
  await takeRest(payer, payee)

  expect(before?.total_usd).toBe('0')
  expect(hour).toEqual({
    total_usd: '500',
    bound_by: ['asserted_new_recipient_limit', 'approved_payments'],
  })
  expect(await leftOf(payer)).toBe(500)
})

test('where the owner knows nobody, a thief gets the limit on his word by new addresses, and no more', async () => {
  const payer = await world.agent('pay', { usdc: heldUsd })
  await world.db.sql`update private.accounts set asserted_daily_limit_usd_micros = 35000000
    where id = ${payer.id}`

  const [hour] = await exposureOf(payer)
  for (let address = 0; address < 4; address += 1) {
    const payee = await world.agent('read')
    for (const amount of ['10', '5', '1', '0.000001']) {
      for (const user_confirmed of [true, false]) {
        await send(payer, payee, amount, { user_confirmed })
      }
    }
  }

  expect(hour).toEqual({ total_usd: '35', bound_by: ['asserted_limit'] })
  expect(await leftOf(payer)).toBe(35)
})

test('what was signed before a limit was lowered leaves beside what the lower one lets through', async () => {
  const { payer, payee } = await acquainted(world, heldUsd)
  await mining(false)
  const order = { chain: 'base-sepolia', token: 'USDC', amount: '200', recipient: payee.address }
  await payer.post(path, order)
  await world.tick(2 * 86_400)
  await world.db.sql`update private.accounts set automatic_daily_limit_usd_micros = 20000000,
    asserted_daily_limit_usd_micros = 150000000 where id = ${payer.id}`

  const [hour] = await exposureOf(payer)
  await mining(true)
  await runHousekeeping(world.world)
  for (const amount of ['140', '10', '1']) {
    for (const user_confirmed of [true, false]) await send(payer, payee, amount, { user_confirmed })
  }

  expect(hour).toEqual({
    total_usd: '350',
    bound_by: ['automatic_limit', 'asserted_limit', 'open_signatures'],
  })
  expect(await leftOf(payer)).toBeLessThanOrEqual(350)
  expect(await leftOf(payer)).toBeGreaterThanOrEqual(0.95 * 350)
})

test('what is out already leaves a frozen account, and is told of a key that only reads', async () => {
  const { payer, payee } = await acquainted(world, heldUsd)
  const reader = await payer.withKey('read')
  await mining(false)
  const order = { chain: 'base-sepolia', token: 'USDC', amount: '120', recipient: payee.address }
  await payer.post(path, order)
  await payer.post('/account-freeze', {})

  const [[hour], [read]] = [await exposureOf(payer), await exposureOf(reader)]
  await mining(true)

  expect(hour).toEqual({ total_usd: '120', bound_by: ['account_frozen', 'open_signatures'] })
  expect(read).toEqual(hour)
  expect(await leftOf(payer)).toBe(120)
})
