import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { fund } from '../../scripts/local/chain.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { hex } from '../support/chain-world.ts'
import { proven } from '../support/ledger.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const offered = z.object({
  vaults: z.tuple([z.looseObject({ vault: z.string(), gate: z.string() })]),
})
const ordered = z.object({
  order: z.object({ order_id: z.uuid(), tx_hash: z.string().nullable() }),
})
const events = z.object({
  events: z.array(z.looseObject({ event: z.string(), order_id: z.string() })),
  next_cursor: z.string().nullable(),
})

let world: TestWorld
let vault: `0x${string}`
beforeAll(async () => {
  world = await start({ chain: true, yield: true })
  await indexTransfers(world.world)
  vault = hex(await vaultOf(await world.agent('read')).then((one) => one.vault))
})

async function vaultOf(agent: Agent) {
  return offered.parse((await agent.get('/defi-vaults-list')).body).vaults[0]
}

async function ask(agent: Agent, operation: string, amount: string, confirmed = true) {
  const terms = { operation, chain: 'base-sepolia', vault, amount, user_confirmed: confirmed }
  const answer = await agent.post('/defi-order-create', terms)
  const { order } = ordered.parse(answer.body)
  if (order.tx_hash) await proven(agent, order.tx_hash)
  return order.order_id
}

async function eventsOf(agent: Agent, query = '') {
  return events.parse((await agent.get(`/defi-order-events?${query}`)).body)
}

test('a position shows what it is worth and what it earned, to the unit', async () => {
  const agent = await world.agent('pay', { usdc: 20 })
  const nothing = await vaultOf(agent)

  await ask(agent, 'deposit', '8')
  await fund(world.chain, vault, { usdcAtomic: 1_000_000n })
  await ask(agent, 'withdraw', '3')
  const early = await vaultOf(agent)
  await indexTransfers(world.world)

  expect(nothing).toMatchObject({ name: 'Local vault', earned: '0', position: { worth: '0' } })
  expect(early['earned']).toBeNull()
  expect(await vaultOf(agent)).toMatchObject({
    status: 'ok',
    paid_in: '8.01',
    paid_out: '3.01',
    position: { worth: '5.999999' },
    earned: '0.999999',
  })
  const feed = await agent.get('/wallet-activity-list?category=defi')
  expect(feed.body['items']).toMatchObject([
    { type: 'received', amount: '3.01' },
    { type: 'transfer_authorized', amount: '0.01' },
    { type: 'transfer_authorized', amount: '8' },
  ])
})

test('orders and their events are listed page by page, and to nobody else', async () => {
  const agent = await world.agent('pay', { usdc: 20 })
  const stranger = await world.agent('pay')
  const first = await ask(agent, 'deposit', '4')
  const second = await ask(agent, 'deposit', '3')

  const list = await agent.get('/defi-orders-list?limit=1')
  const rest = await agent.get(`/defi-orders-list?cursor=${String(list.body['next_cursor'])}`)

  const page = await eventsOf(agent, 'limit=3')
  const all = await eventsOf(agent, 'limit=50')
  const more = await eventsOf(agent, `limit=50&cursor=${page.next_cursor}`)
  const ofFirst = await eventsOf(agent, `order_id=${first}`)
  expect(list.body).toMatchObject({ orders: [{ order_id: second }], source: 'service_index' })
  expect(rest.body).toMatchObject({ orders: [{ order_id: first }], next_cursor: null })
  expect([...page.events, ...more.events]).toEqual(all.events)
  expect(ofFirst.events.map(({ event }) => event)).toEqual([
    'included',
    'submitted',
    'signed',
    'confirmed',
    'created',
  ])
  expect((await eventsOf(stranger)).events).toEqual([])
  const foreign = await stranger.get(`/defi-orders-list?order_id=${first}`)
  expect(foreign.body['orders']).toEqual([])
})

test('an order that waits is cancelled for good, and one that is signed is not', async () => {
  const agent = await world.agent('pay', { usdc: 20 })
  const stranger = await world.agent('pay')
  const waiting = await ask(agent, 'deposit', '4', false)
  const sent = await ask(agent, 'deposit', '5')

  const foreign = await stranger.post('/defi-order-cancel', { order_id: waiting })
  const cancelled = await agent.post('/defi-order-cancel', { order_id: waiting })
  const again = await agent.post('/defi-order-cancel', { order_id: waiting })
  const late = await agent.post('/defi-order-cancel', { order_id: sent })

  expect(foreign.body['error']).toBe('payment_not_found')
  expect(cancelled.body).toMatchObject({ order: { order_id: waiting, status: 'expired' } })
  expect(again.body['order']).toEqual(cancelled.body['order'])
  expect(late.body['error']).toBe('payment_closed')
  expect((await eventsOf(agent, `order_id=${waiting}`)).events[0]?.event).toBe('failed')
})
