/** Orders for vaults among reorganizations and restarts: the index of events and the books equal the chain. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { inForm } from '../support/cases.ts'
import { hex } from '../support/chain-world.ts'
import { node, stopMining } from '../support/faults/chain.ts'
import { ledgerEqualsChain, settleAll } from '../support/faults/settle.ts'
import { randomBytes } from '../support/seed.ts'
import { type Agent, start } from '../support/world.ts'
import { read } from '../support/yield-gate.ts'

const world = await start({ chain: true, yield: true })
const offered = z.object({ vaults: z.tuple([z.object({ vault: z.string(), gate: z.string() })]) })
const reader = await world.agent('read')
const { vaults } = offered.parse((await reader.get('/defi-vaults-list')).body)
const [vault, gate] = [hex(vaults[0].vault), hex(vaults[0].gate)]

const events = z.object({
  events: z.array(
    z.object({
      event: z.string(),
      order_id: z.string(),
      tx_hash: z.string().nullable(),
      block_hash: z.string().nullable(),
    }),
  ),
})
const below = (end: number) => randomBytes(4).readUInt32BE() % end

/** Sends an order from another isolate, with mining stopped. */
async function order(agent: Agent) {
  const shares = await read(world.chain, gate, 'sharesOf', agent.address, vault)
  const isOut = shares > 0n && below(2) === 0
  const terms = isOut
    ? { operation: 'withdraw', amount: 'all' }
    : { operation: 'deposit', amount: `${1 + below(3)}.${below(1000)}` }
  const asked = { ...terms, chain: 'base-sepolia', vault, user_confirmed: true }
  const key = { 'idempotency-key': randomBytes(16).toString('hex') }
  return world.worker().post(agent, '/defi-order-create', asked, key)
}

test('events and books equal the chain after random orders with reorgs of depth 1 to 8', {
  timeout: inForm(200_000, 3_600_000),
}, async () => {
  const agents = await Promise.all([1, 2, 3].map(() => world.agent('pay', { usdc: 1_000 })))
  for (const agent of agents) await world.acquaint(agent, gate)

  for (let round = 0; round < inForm(8, 100); round += 1) {
    const depth = 1 + (round % 8)
    await stopMining(world)
    for (const agent of agents) expect((await order(agent)).status).toBe(200)
    await node(world, 'anvil_mine', depth)
    await world.tick(60)
    if (below(4) > 0) await node(world, 'anvil_reorg', depth, [])
    await settleAll(world)
    await node(world, 'evm_setAutomine', true)
  }

  await ledgerEqualsChain(world)
  let heldShares = 0n
  for (const agent of agents) {
    heldShares += await read(world.chain, gate, 'sharesOf', agent.address, vault)
    const all = events.parse((await agent.get('/defi-order-events?limit=50')).body).events
    const placed = all.filter(({ event }) => event === 'included' || event === 'finalized')
    expect(placed.length).toBeGreaterThan(0)
    for (const { tx_hash, block_hash } of placed) {
      const [found] = await callRpc(world.chain.rpcUrl, [['eth_getTransactionByHash', tx_hash]])
      expect(found).toMatchObject({ blockHash: block_hash })
    }
  }
  expect(await read(world.chain, vault, 'balanceOf', gate)).toBe(heldShares)
})
