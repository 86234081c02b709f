/**
 * A payee cannot hide among decoy logs how much it took by Permit2. The counted amount is never less
 * than what left the wallet by `balanceOf`, and every payment ends.
 */
import { beforeAll, expect, test } from 'vitest'
import { callRpc } from '../../scripts/local/rpc.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import type { Market } from '../support/market.ts'
import { openMarket, pay } from '../support/market.ts'
import type { PermitPayload } from '../support/permit2.ts'
import { allow, installTimeoutMilliseconds, placePermit2 } from '../support/permit2.ts'
import {
  mineCalls,
  nothingMoved,
  openProxies,
  store,
  together,
  useOf,
} from '../support/permit2-decoys.ts'
import type { Permit2Merchant } from '../support/permit2-merchant.ts'
import { startPermit2Merchant } from '../support/permit2-merchant.ts'
import type { Agent } from '../support/world.ts'

const held = 1_000_000n
let market: Market
let merchant: Permit2Merchant
beforeAll(async () => {
  market = await openMarket()
  await placePermit2(market.chain)
  await openProxies(market.chain)
  merchant = await startPermit2Merchant(market.chain)
  merchant.takes.amount = undefined
}, installTimeoutMilliseconds)

/** Returns a payer whose wallet has given Permit2 an allowance. */
async function payer(): Promise<Agent> {
  const agent = await market.agent('pay', { usdc: 1 })
  await allow(market.chain, agent.address, held)
  return agent
}

/** Signs a permit that the payee keeps without settling it. */
async function heldBack(agent: Agent, path: string): Promise<PermitPayload> {
  const known = new Set(merchant.paid)
  await pay(agent, { resource_url: `${merchant.url}${path}` })
  const mine = merchant.paid.filter(
    (one) => !known.has(one) && one.payload.permit2Authorization.from === agent.address,
  )
  const [fresh] = mine
  if (!fresh) throw new Error('nothing was signed')
  return fresh.payload
}

/** Returns the payments of an account, the amount that limits count, and what left its wallet. */
async function told(agent: Agent) {
  const rows = await market.db.sql<{ state: string; counted: string; settled: string | null }[]>`
    select state, counted_usd_micros::text as counted, settled_atomic::text as settled
      from private.payments where account = ${agent.id} order by amount_atomic desc, created_at`
  const counted = rows.reduce((sum, row) => sum + BigInt(row.counted), 0n)
  return { rows, counted, left: held - (await market.usdcOf(agent.address)) }
}

/** Runs housekeeping often enough for all payments, with finality in between. */
async function lookAtAll(): Promise<void> {
  for (let run = 0; run < 4; run += 1) {
    await runHousekeeping(market.world)
    await callRpc(market.chain.rpcUrl, [['anvil_mine', '0x10']])
    await market.tick(60)
  }
}

test.each([60, 1_050])(
  'upto that was taken whole counts whole among %s transfers of nothing',
  async (count) => {
    const agent = await payer()
    const permit = await heldBack(agent, '/upto')
    const nothing = nothingMoved(market.chain, agent.address, merchant.payTo)
    const decoys = Array.from({ length: count }, () => nothing)

    const all = [useOf(permit, 40n), ...decoys]
    await mineCalls(market.chain, [together(all)])
    await lookAtAll()

    const { rows, counted, left } = await told(agent)
    expect(left).toBe(40n)
    expect(counted).toBe(40n)
    expect(rows).toMatchObject([{ state: 'settled' }])
  },
)

test('transfers of nothing beside it do not hide that upto took less', async () => {
  const agent = await payer()
  const permit = await heldBack(agent, '/upto')
  const nothing = nothingMoved(market.chain, agent.address, merchant.payTo)

  await mineCalls(market.chain, [together([nothing, useOf(permit, 7n), nothing])])
  await lookAtAll()

  expect(await told(agent)).toMatchObject({
    left: 7n,
    counted: 7n,
    rows: [{ state: 'settled', settled: '7' }],
  })
})

test('upto that is taken among fifty payments of one unit that were held back counts whole', async () => {
  const agent = await payer()
  const dust: PermitPayload[] = []
  for (let count = 0; count < 50; count += 1) dust.push(await heldBack(agent, '/least'))
  const permit = await heldBack(agent, '/upto')

  const all = [useOf(permit, 40n), ...dust.map((one) => useOf(one, 1n))]
  await mineCalls(market.chain, [together(all)])
  await lookAtAll()

  const { rows, counted, left } = await told(agent)
  expect(left).toBe(90n)
  expect(counted).toBeGreaterThanOrEqual(left)
  expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['settled']))
  const [shared] = await market.db.sql`
    select count(*)::integer as logs, count(distinct (tx_hash, log_index))::integer as own
      from private.payments where account = ${agent.id} and log_index is not null`
  expect(shared).toEqual({ logs: 50, own: 50 })
})

test('a transaction that carries the nonce does not pass for the one that used the permit', async () => {
  const agent = await payer()
  const small = await heldBack(agent, '/least')
  const permit = await heldBack(agent, '/upto')
  const stored = await store(market.chain, useOf(permit, 40n))
  const nonce = BigInt(permit.permit2Authorization.nonce).toString(16).padStart(64, '0')

  await mineCalls(market.chain, [stored, { ...useOf(small, 1n), carrying: nonce }])
  await lookAtAll()

  const { rows, counted, left } = await told(agent)
  expect(left).toBe(41n)
  expect(counted).toBeGreaterThanOrEqual(left)
  expect(rows).toMatchObject([{ state: 'settled' }, { state: 'settled' }])
})
