import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { fund } from '../../scripts/local/chain.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { hex } from '../support/chain-world.ts'
import { proven, statesOf, usdcOf } from '../support/ledger.ts'
import { textWith } from '../support/matching.ts'
import { anew } from '../support/wish.ts'
import { type Agent, type Answer, start, type TestWorld } from '../support/world.ts'
import { read } from '../support/yield-gate.ts'

const path = '/defi-order-create'
const listed = z.object({
  vaults: z.tuple([z.object({ vault: z.string(), gate: z.string() })]),
})
const ordered = z.object({ order: z.object({ order_id: z.uuid(), tx_hash: z.string() }) })

let world: TestWorld
let vault: `0x${string}`
let gate: `0x${string}`
beforeAll(async () => {
  world = await start({ chain: true, yield: true })
  const reader = await world.agent('read')
  const { vaults } = listed.parse((await reader.get('/defi-vaults-list')).body)
  vault = hex(vaults[0].vault)
  gate = hex(vaults[0].gate)
})

const sharesOf = ({ address }: Agent) => read(world.chain, gate, 'sharesOf', address, vault)
const order = (operation: string, amount: string) => ({
  operation,
  chain: 'base-sepolia',
  vault,
  amount,
  user_confirmed: true,
})

async function settled(agent: Agent, answer: Answer) {
  const { order_id, tx_hash } = ordered.parse(answer.body).order
  await proven(agent, tx_hash)
  return order_id
}

describe('an order', () => {
  test('puts USDC into a vault and takes it out again with its yield, to the unit', async () => {
    const agent = await world.agent('pay', { usdc: 100 })
    await world.acquaint(agent, gate)

    const paid = await agent.post(path, order('deposit', '60'))
    await settled(agent, paid)
    const shares = await sharesOf(agent)
    await fund(world.chain, vault, { usdcAtomic: 6_000_000n })
    const worth = await read(world.chain, vault, 'previewRedeem', shares)
    const taken = await agent.post(path, order('withdraw', 'all'))
    await settled(agent, taken)

    expect(paid).toMatchObject({
      status: 200,
      body: {
        order: { operation: 'deposit', amount: '60', status: 'submitted', vault },
        source: 'service_index',
        requires_user_confirm: false,
        gap_id: 'GAP_DEFI_AUTOMATION_V1',
        gap_status: 'partial_live',
      },
    })
    expect(shares).toBe(60_000_000n)
    expect(worth).toBeGreaterThan(65_000_000n)
    expect([await usdcOf(world, agent), await sharesOf(agent)]).toEqual([40_000_000n + worth, 0n])
    expect(await statesOf(world, agent)).toEqual(['settled', 'settled'])
  })

  test('is asked about like a transfer, and paid once however often it is told', async () => {
    const agent = await world.agent('pay', { usdc: 20 })
    const { user_confirmed: _, ...unconfirmed } = order('deposit', '5')

    const asked = await agent.post(path, unconfirmed)
    const again = await agent.post(path, unconfirmed)
    const paid = await agent.post(path, order('deposit', '5'))
    await settled(agent, paid)

    expect(asked.body).toMatchObject({
      requires_user_confirm: true,
      order: {
        status: 'awaiting_confirmation',
        summary: textWith('for a deposit into Local vault'),
      },
      next: { tool: 'wallet_custodial_transfer' },
    })
    expect(again.body['order']).toEqual(asked.body['order'])
    expect(await statesOf(world, agent)).toEqual(['settled'])
    expect(await usdcOf(world, agent)).toBe(15_000_000n)
  })

  test('goes on by the call that its answer names', async () => {
    const agent = await world.agent('pay', { usdc: 20 })
    const asked = await agent.post(path, { ...order('deposit', '5'), user_confirmed: false })
    const { next } = z
      .object({ next: z.object({ arguments: z.record(z.string(), z.unknown()) }) })
      .parse(asked.body)

    const sent = await agent.post('/wallet-custodial-transfer', {
      ...next.arguments,
      user_confirmed: true,
    })
    await proven(agent, sent.body['tx_hash'])

    expect(await sharesOf(agent)).toBeGreaterThan(0n)
  })

  test('of more than the position, of an unknown vault, or of all for a deposit, is refused', async () => {
    const agent = await world.agent('pay', { usdc: 20 })

    const answers = await Promise.all([
      agent.post(path, order('withdraw', '5')),
      agent.post(path, { ...order('deposit', '5'), vault: agent.address }),
      agent.post(path, order('deposit', 'all')),
      agent.post(path, order('deposit', '25')),
    ])

    expect(answers.map(({ body }) => body['error'])).toEqual([
      'insufficient_funds',
      'invalid_request',
      'invalid_request',
      'insufficient_funds',
    ])
    expect(await statesOf(world, agent)).toEqual(['prepared'])
  })

  test('of many agents at once travels alone, and transfers beside it arrive', async () => {
    const agents = await Promise.all(
      Array.from({ length: 6 }, () => world.agent('pay', { usdc: 20 })),
    )
    const payee = await world.agent('read')
    const transfer = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '1' }

    await Promise.all(
      agents.flatMap((agent) => [
        agent.post(path, order('deposit', '5')),
        agent.post('/wallet-custodial-transfer', anew({ ...transfer, user_confirmed: true })),
      ]),
    )
    await expect
      .poll(async () => {
        await runHousekeeping(world.world)
        return (await Promise.all(agents.map((agent) => statesOf(world, agent)))).flat()
      })
      .toEqual(Array.from({ length: 12 }, () => 'settled'))

    const held = await Promise.all(agents.map((agent) => usdcOf(world, agent)))
    expect(held).toEqual(agents.map(() => 14_000_000n))
    const mixed = await world.db.sql`
      select from private.relay_calls c join private.payments p on p.id = c.payment
       where p.terms ? 'carrier' and exists (select from private.relay_calls o
         where o.slot = c.slot and o.id <> c.id)`
    expect(mixed).toHaveLength(0)
  })

  test('is stopped by a freeze', async () => {
    const agent = await world.agent('pay', { usdc: 20 })
    await agent.post('/account-freeze', {})

    const answer = await agent.post(path, order('deposit', '5'))

    expect(answer).toMatchObject({ status: 403, body: { error: 'account_frozen' } })
  })
})

test('the gate takes no plain transfer, which would be lost in it', async () => {
  const agent = await world.agent('pay', { usdc: 20 })
  const transfer = { recipient: gate, chain: 'base-sepolia', token: 'USDC', amount: '5' }

  const answer = await agent.post('/wallet-custodial-transfer', anew(transfer))

  expect(answer.body).toMatchObject({ error: 'recipient_refused' })
})
