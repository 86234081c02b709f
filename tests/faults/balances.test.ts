/** The balance of each wallet matches the books, or the account is frozen. */
import { beforeAll, expect, test } from 'vitest'
import { callRpc } from '../../scripts/local/rpc.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { reconcileBalances } from '../../shared/payments/deposits/reconcile.ts'
import { newKey, transfer } from '../support/chain-world.ts'
import { payAs, reorg, sendAs } from '../support/deposits.ts'
import { textWith } from '../support/matching.ts'
import {
  alarmsOf,
  feedOf,
  holds,
  isFrozen,
  owned,
  passGrace,
  verdictsOn,
} from '../support/outflows.ts'
import { signedPayment } from '../support/signed.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { finalize, start } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
  await indexTransfers(world.world)
})

/** Runs as housekeeping does: once to read, and once more when that reading is final. */
async function reconcile(on = world, isFirst = false): Promise<void> {
  await indexTransfers(on.world)
  await reconcileBalances(on.world, isFirst)
  await finalize(on.chain)
  await indexTransfers(on.world)
  await reconcileBalances(on.world, false)
}

async function aDayLater(): Promise<void> {
  await world.tick(86_401)
}

/** Returns the last recorded balance of an agent's wallet, and whether a reading is pending. */
async function basesOf({ db }: TestWorld, { address }: Agent) {
  const rows = await db.sql<{ base: string | null; waits: boolean }[]>`
    select base_atomic::text as base, read_block is not null as waits from private.balances
     where wallet = ${address} order by base_atomic`
  return [...rows]
}

test('a wallet starts at its first reading, and what comes and is paid is explained', async () => {
  const { agent } = await owned(world, 10)
  await reconcile()
  const first = await basesOf(world, agent)
  await payAs(world, newKey().at, agent.address, 2_000_000n)
  const signed = await signedPayment(world, agent, newKey().at)
  await sendAs(world, newKey().at, signed.calldata)
  await agent.post('/transfer-status', { transfer_id: signed.paymentId })
  await passGrace(world)
  await aDayLater()

  await reconcile()

  expect(first).toEqual([
    { base: '0', waits: false },
    { base: '10000000', waits: false },
  ])
  expect(await basesOf(world, agent)).toEqual([
    { base: '0', waits: false },
    { base: '7000000', waits: false },
  ])
  expect([await isFrozen(world, agent), alarmsOf(world, agent)]).toEqual([false, []])
})

test('less than transfers explain freezes the account, is told and alarms once', async () => {
  const { agent, told } = await owned(world, 10)
  await reconcile()
  await holds(world, agent, 7_000_000)
  await aDayLater()

  await reconcile()
  await aDayLater()
  await reconcile()

  expect(await isFrozen(world, agent)).toBe(true)
  expect(alarmsOf(world, agent)).toEqual(['balance_short'])
  expect((await feedOf(agent)).slice(0, 2)).toMatchObject([
    { type: 'account_frozen', summary: textWith('by the service') },
    {
      type: 'balance_short',
      summary: 'The wallet holds 3 USDC less on Base Sepolia than its books say.',
    },
  ])
  expect(await told()).toEqual(['Your wallet holds less than its books say'])
})

test('a transfer that the index missed is found, and freezes the account as what it is', async () => {
  const { agent, told } = await owned(world, 10)
  await reconcile()
  const thief = newKey().at
  await sendAs(world, agent.address, transfer(thief, 3_000_000n))
  await finalize(world.chain)
  await indexTransfers(world.world)
  await world.db.sql`delete from private.outflows where account = ${agent.id}`
  await aDayLater()

  await reconcile()
  await passGrace(world)

  expect(await isFrozen(world, agent)).toBe(true)
  expect(alarmsOf(world, agent)).toEqual(['transfers_rebooked', 'unknown_outflow'])
  expect((await feedOf(agent)).slice(0, 2)).toMatchObject([
    { type: 'account_frozen' },
    {
      type: 'unknown_transfer',
      summary: textWith(`3 USDC left the wallet on Base Sepolia for ${thief}`),
    },
  ])
  expect(await told()).toEqual(['Money left your account that was not booked'])
})

test('a booked payment whose transfer the index missed is found, and freezes nobody', async () => {
  const { agent } = await owned(world, 10)
  await reconcile()
  const signed = await signedPayment(world, agent, newKey().at)
  await sendAs(world, newKey().at, signed.calldata)
  await finalize(world.chain)
  await agent.post('/transfer-status', { transfer_id: signed.paymentId })
  await indexTransfers(world.world)
  await world.db.sql`delete from private.outflows where account = ${agent.id}`
  await aDayLater()

  await reconcile()
  await passGrace(world)

  expect(alarmsOf(world, agent)).toEqual(['transfers_rebooked'])
  expect(await verdictsOn(world, agent)).toEqual([{ verdict: 'booked', payment: signed.paymentId }])
  expect(await isFrozen(world, agent)).toBe(false)
})

test('more than transfers explain alarms and freezes nobody', async () => {
  const { agent } = await owned(world, 10)
  await reconcile()
  await holds(world, agent, 12_000_000)
  await aDayLater()

  await reconcile()

  expect(alarmsOf(world, agent)).toEqual(['balance_surplus'])
  expect(await isFrozen(world, agent)).toBe(false)
})

test('a deposit that the index missed is found, told and alarms', async () => {
  const { agent } = await owned(world, 10)
  await reconcile()
  await payAs(world, newKey().at, agent.address, 2_000_000n)
  await finalize(world.chain)
  await indexTransfers(world.world)
  await world.db.sql`delete from private.activities a using private.deposits d
    where a.deposit = d.id and d.account = ${agent.id} and d.amount_atomic = 2000000`
  await world.db.sql`delete from private.deposits
    where account = ${agent.id} and amount_atomic = 2000000`
  await aDayLater()

  await reconcile()

  expect(alarmsOf(world, agent)).toEqual(['transfers_rebooked'])
  expect((await feedOf(agent)).slice(0, 1)).toMatchObject([
    { type: 'received', summary: textWith('2 USDC'), status: 'finalized' },
  ])
})

test('a balance is read once a day, and soon after a restart if the last one is an hour old', async () => {
  const { agent } = await owned(world, 10)
  const readAt = async () => {
    const [row] = await world.db.sql<{ at: Date }[]>`
      select max(read_at) as at from private.balances where wallet = ${agent.address}`
    return row?.at.getTime()
  }
  await reconcile()
  const first = await readAt()
  await world.tick(3_000)
  await reconcile(world, true)
  const early = await readAt()
  await world.tick(3_000)
  await reconcile()
  const ordinary = await readAt()

  await reconcile(world, true)

  expect([early, ordinary]).toEqual([first, first])
  expect(await readAt()).toBeGreaterThan(first ?? 0)
})

test('what was read in a block that was replaced is read anew', async () => {
  const { agent } = await owned(world, 10)
  await finalize(world.chain)
  await indexTransfers(world.world)
  await payAs(world, newKey().at, agent.address, 1_000_000n)
  await reconcileBalances(world.world, false)
  const before = await basesOf(world, agent)
  await reorg(world, 2)
  await finalize(world.chain)
  await indexTransfers(world.world)
  await reconcileBalances(world.world, false)

  await reconcile()

  expect(before.map(({ waits }) => waits)).toEqual([true, true])
  expect(await basesOf(world, agent)).toMatchObject([{ base: '0' }, { base: '10000000' }])
  expect([await isFrozen(world, agent), alarmsOf(world, agent)]).toEqual([false, []])
})

test('a deposit that the chain does not show is taken back, and freezes nobody', async () => {
  const { agent } = await owned(world, 10)
  await reconcile()
  await payAs(world, newKey().at, agent.address, 1_000_000n)
  await finalize(world.chain)
  await indexTransfers(world.world)
  await world.db.sql`update private.deposits set amount_atomic = 9000000
    where account = ${agent.id} and amount_atomic = 1000000`
  await aDayLater()

  await reconcile()

  expect(alarmsOf(world, agent)).toEqual(['transfers_rebooked'])
  expect(await isFrozen(world, agent)).toBe(false)
  expect((await feedOf(agent)).slice(0, 2)).toMatchObject([
    { summary: textWith('1 USDC'), status: 'finalized' },
    { summary: textWith('9 USDC'), status: 'reorged' },
  ])
})

test('endpoints that do not agree freeze nobody, and the operator hears of it', async () => {
  const two = await start({ chain: true, endpoints: async (url) => [url, `${url}/?other`] })
  const { agent } = await owned(two, 10)
  await reconcile(two)
  const { fetch } = two.world
  two.world.fetch = async (input, init) => {
    const answer = await fetch(input, init)
    const isBalances = typeof init?.body === 'string' && init.body.includes('eth_call')
    if (!isBalances || !new Request(input).url.includes('other')) return answer
    const text = await answer.text()
    return new Response(text.replaceAll('0000989680', '0000000000'), answer)
  }
  await two.tick(86_401)

  await reconcile(two)

  expect(await isFrozen(two, agent)).toBe(false)
  expect(two.log).toContainEqual(expect.objectContaining({ alarm: 'endpoints_disagree' }))
})

test('a run reads a bounded part, and all wallets come in turn', async () => {
  const many = await start({ chain: true })
  await indexTransfers(many.world)
  const agents = []
  for (let count = 0; count < 60; count += 1) agents.push(await many.agent('read'))
  const waiting = async () => {
    const rows = await many.db.sql<{ count: number }[]>`
      select count(*)::integer from private.balances where read_block is not null`
    return rows[0]?.count
  }

  const seen = []
  for (let run = 0; run < 3; run += 1) {
    await reconcileBalances(many.world, run === 0)
    seen.push(await waiting())
    await callRpc(many.chain.rpcUrl, [['anvil_mine', '0x1']])
  }

  expect(seen).toEqual([80, 120, 120])
})
