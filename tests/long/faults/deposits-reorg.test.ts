/** The deposits of the feed match a scan of the whole chain while blocks are replaced. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import { indexTransfers } from '../../../shared/payments/deposits/index-transfers.ts'
import {
  bookedDeposits,
  depositsInFeed,
  headOf,
  mine,
  reorg,
  scanChain,
  signedPayments,
  transferTopic,
} from '../../support/deposits.ts'
import { type Agent, finalize, start } from '../../support/world.ts'

/** Starts a world with a running index, two agents, and signed payments to them in no block yet. */
async function begun(payments: number) {
  const world = await start({ chain: true })
  const agents = [await world.agent('read'), await world.agent('read')]
  const to = Array.from({ length: payments }, (_, at) => agents.slice(at % 2, (at % 2) + 1)).flat()
  const signed = await signedPayments(world, to)
  await indexTransfers(world.world)
  const [first] = agents
  if (!first) throw new Error('no agent')
  return { world, agents, first, payments: signed, since: await headOf(world) }
}

const page = z.object({ items: z.array(z.object({ status: z.string() })) })

async function labelsOf(agent: Agent): Promise<string[]> {
  const { body } = await agent.get('/wallet-activity-list')
  return page.parse(body).items.map(({ status }) => status)
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'after %i blocks were replaced the feed holds what stands in the chain, each deposit once',
  async (depth) => {
    const { world, agents, payments, since } = await begun(8)
    for (const payment of payments) {
      await mine(world, [payment])
      await indexTransfers(world.world)
    }
    const replaced = payments.slice(8 - depth)
    // Of the payments in replaced blocks, every third is dropped and the rest goes into other blocks.
    const kept = replaced.filter((_, at) => at % 3 !== 0)
    const placed = kept.map((payment, at) => [payment, depth - 1 - at] as const)

    await reorg(world, depth, placed)
    const { moved } = await indexTransfers(world.world)
    const found = await bookedDeposits(world)

    expect(found).toEqual(await scanChain(world, agents, since))
    expect(found).toHaveLength(8 - Math.ceil(depth / 3))
    expect(moved).toBe(0)
    const told = (await Promise.all(agents.map((agent) => depositsInFeed(world, agent)))).flat()
    const gone = replaced.filter((payment) => !kept.includes(payment))
    expect(told.toSorted()).toEqual(
      payments
        .map((payment) => (gone.includes(payment) ? `${payment.hash} reorged` : payment.hash))
        .toSorted(),
    )
  },
)

test('a deposit that was taken back and comes again is the same one', async () => {
  const { world, first, payments } = await begun(1)
  const [payment] = payments
  await mine(world, payments)
  await indexTransfers(world.world)

  await reorg(world, 2)
  await indexTransfers(world.world)
  const between = await depositsInFeed(world, first)
  await mine(world, payments)
  await indexTransfers(world.world)

  expect(between).toEqual([`${payment?.hash} reorged`])
  expect(await depositsInFeed(world, first)).toEqual([payment?.hash])
})

test('a reorganization while logs are read is noticed by the next run', async () => {
  const { world, agents, payments, since } = await begun(3)
  const [moving, dropped, late] = payments
  if (!moving || !dropped || !late) throw new Error('three payments')
  await mine(world, [moving])
  await mine(world, [dropped])
  const { fetch } = world.world
  const newest = `"toBlock":"0x${(await headOf(world)).toString(16)}"`
  world.world.fetch = async (input, init) => {
    const answer = await fetch(input, init)
    const isNewest = typeof init?.body === 'string' && init.body.includes(newest)
    if (isNewest) await reorg(world, 2, [[moving, 1]])
    return answer
  }
  await indexTransfers(world.world)
  world.world.fetch = fetch
  const stale = await bookedDeposits(world)
  await mine(world, [late])

  await indexTransfers(world.world)

  const found = await bookedDeposits(world)
  expect(found).toEqual(await scanChain(world, agents, since))
  expect([stale.length, found.length]).toEqual([2, 2])
})

test('a reorganization is not forgotten while the newest blocks cannot be read', async () => {
  const { world, agents, payments, since } = await begun(4)
  for (const payment of payments) await mine(world, [payment])
  await indexTransfers(world.world)
  await reorg(world, 2)
  await mine(world)
  const { fetch } = world.world
  let readings = 0
  // The first reading is the one of the final blocks.
  world.world.fetch = (input, init) => {
    const isLogs = typeof init?.body === 'string' && init.body.includes('eth_getLogs')
    const isLost = isLogs && ++readings > 1
    return isLost ? Promise.reject(new Error('connection lost')) : fetch(input, init)
  }
  await indexTransfers(world.world)
  world.world.fetch = fetch

  await indexTransfers(world.world)

  const found = await bookedDeposits(world)
  expect(found).toEqual(await scanChain(world, agents, since))
  expect(found).toHaveLength(2)
})

test('a deposit is included, then safe, then finalized, and stays so', async () => {
  const { world, first, payments } = await begun(1)
  await mine(world, payments)
  const labels = []
  for (const blocks of ['0x3', '0x1', '0x4', '0x10']) {
    await indexTransfers(world.world)
    labels.push(...(await labelsOf(first)))
    await callRpc(world.chain.rpcUrl, [['anvil_mine', blocks]])
  }
  await indexTransfers(world.world)

  expect([...labels, ...(await labelsOf(first))]).toEqual([
    'included',
    'included',
    'safe',
    'finalized',
    'finalized',
  ])
})

test('what a node left out of the newest blocks is found when they are final', async () => {
  const { world, agents, payments, since } = await begun(4)
  for (const payment of payments) await mine(world, [payment])
  const { fetch } = world.world
  // A node that has not seen the blocks gives a well-formed, empty answer.
  world.world.fetch = (input, init) => {
    const body = typeof init?.body === 'string' ? init.body : ''
    const emptied = body.replaceAll(transferTopic, `0x${'0'.repeat(64)}`)
    return fetch(input, { ...init, body: emptied })
  }
  await indexTransfers(world.world)
  const before = await bookedDeposits(world)
  world.world.fetch = fetch
  await finalize(world.chain)

  await indexTransfers(world.world)

  expect(before).toEqual([])
  expect(await bookedDeposits(world)).toEqual(await scanChain(world, agents, since))
})
