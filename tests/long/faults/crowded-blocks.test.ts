/** Zero-value transfers that fill blocks keep nothing else from being booked once, however runs end. */
import { expect, test } from 'vitest'
import { indexTransfers } from '../../../shared/payments/deposits/index-transfers.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import type { Fetch } from '../../../shared/world.ts'
import { newKey } from '../../support/chain-world.ts'
import { mineCalls, nothingMoved, together } from '../../support/crowd.ts'
import { bookedDeposits, headOf, payAs, scanChain } from '../../support/deposits.ts'
import { node } from '../../support/faults/chain.ts'
import { acquainted } from '../../support/ledger.ts'
import { type Agent, finalize, start, type TestWorld } from '../../support/world.ts'

/** Starts a world whose transfer index is at the head of the chain. */
async function indexed() {
  const world = await start({ chain: true })
  const victim = await world.agent('read')
  await node(world, 'anvil_autoImpersonateAccount', true)
  await finalize(world.chain)
  await indexTransfers(world.world)
  return { world, victim, since: await headOf(world) }
}

/** Sends one transaction with `count` zero-value transfers to a wallet, all from `sender` if given. */
async function crowd({ chain }: TestWorld, { address }: Agent, count: number, sender?: string) {
  const transfers = Array.from({ length: count }, (_, n) =>
    nothingMoved(chain, sender ?? `0x${(n + 10 ** 9).toString(16).padStart(40, '0')}`, address),
  )
  await mineCalls(chain, [together(transfers)])
}

const nameOf = (input: Parameters<Fetch>[0]) => /\/rpc\/(\w+)$/.exec(new Request(input).url)?.[1]

/** Returns a world in which `meddle` may answer a booking call in place of the database. */
function meddling(
  world: TestWorld,
  meddle: (name: string, body: string) => Response | undefined,
): TestWorld['world'] {
  const fetching: Fetch = async (input, init) => {
    const name = nameOf(input) ?? ''
    const isBooking = /^housekeeping_(enter|book)_\w*transfers$/.test(name)
    const body = typeof init?.body === 'string' ? init.body : ''
    return (isBooking ? meddle(name, body) : undefined) ?? fetch(input, init)
  }
  return world.worker({ fetch: fetching }).world
}

const tooLarge = () =>
  Response.json(
    { code: 'PGRST102', message: 'too large', details: null, hint: null },
    { status: 413 },
  )

async function toldTimes({ db }: TestWorld, { id }: Agent) {
  const rows = await db.sql`select deposit from private.activities
    where account = ${id} and deposit is not null`
  return { told: rows.length, once: new Set(rows.map(({ deposit }) => String(deposit))).size }
}

test('thousands of transfers of nothing keep no deposit and no outflow of others from being booked', async () => {
  const { world, victim, since } = await indexed()
  const { payer, payee } = await acquainted(world)
  for (let block = 0; block < 6; block += 1) await crowd(world, victim, 450)
  await payAs(world, newKey().at, victim.address, 5_000_000n)
  const order = { chain: 'base-sepolia', token: 'USDC', amount: '1', recipient: payee.address }
  await payer.post('/wallet-custodial-transfer', order)
  await runHousekeeping(world.world)
  await finalize(world.chain)

  await indexTransfers(world.world)

  const outflows = await world.db
    .sql`select amount_atomic::text as amount from private.outflows where wallet = ${payer.address}`
  expect(outflows.map(({ amount }) => String(amount))).toEqual(['1000000'])
  const booked = await bookedDeposits(world)
  expect(booked).toEqual(await scanChain(world, [victim, payer, payee], since))
  expect(booked.filter(({ wallet }) => wallet === victim.address)).toHaveLength(2_701)
}, 180_000)

test('a run that ends between two pieces is gone on with, and nothing is told twice', async () => {
  const { world, victim, since } = await indexed()
  // The transfers are all equal and differ only in their order.
  await crowd(world, victim, 1_200, newKey().at)
  await finalize(world.chain)
  const asked: string[] = []
  const breaking = meddling(world, (name) => {
    if (asked.push(name) === 2) throw new Error('the isolate ended')
    return undefined
  })

  await indexTransfers(breaking)
  const during = (await bookedDeposits(world)).length
  await indexTransfers(world.world)

  expect(asked).toEqual(['housekeeping_enter_transfers', 'housekeeping_enter_transfers'])
  expect(during).toBe(500)
  const booked = await bookedDeposits(world)
  expect(booked).toEqual(await scanChain(world, [victim], since))
  expect([booked.length, await toldTimes(world, victim)]).toEqual([
    1_200,
    { told: 1_200, once: 1_200 },
  ])
}, 180_000)

test('a piece that the database takes as too large is booked in smaller ones', async () => {
  const { world, victim, since } = await indexed()
  await crowd(world, victim, 300)
  await finalize(world.chain)
  const narrow = meddling(world, (_, body) => (body.length > 50_000 ? tooLarge() : undefined))

  await indexTransfers(narrow)

  expect(await bookedDeposits(world)).toEqual(await scanChain(world, [victim], since))
}, 180_000)

test('a transfer that cannot be booked is told to the operator, and holds up no other', async () => {
  const { world, victim } = await indexed()
  const [impossible, before, after] = [newKey().at, newKey().at, newKey().at]
  await world.db.sql.unsafe(
    `alter table private.deposits add check (sender <> '${impossible}') not valid`,
  )
  for (const sender of [before, impossible, after]) {
    await payAs(world, sender, victim.address, 2_000_000n)
  }
  await finalize(world.chain)

  await indexTransfers(world.world)

  const booked = await bookedDeposits(world)
  expect(booked.map(({ sender }) => sender)).toEqual([before, after])
  expect(world.log.filter(({ alarm }) => alarm === 'transfer_not_booked')).toHaveLength(1)
})

test('final blocks that are not booked for a quarter of an hour are told to the operator', async () => {
  const { world, victim } = await indexed()
  await payAs(world, newKey().at, victim.address, 2_000_000n)
  await finalize(world.chain)
  const stuck = meddling(world, tooLarge)
  const alarms = () => world.log.filter(({ alarm }) => alarm === 'index_held_up')

  const told: number[] = []
  for (const seconds of [0, 600, 600]) {
    await world.tick(seconds)
    await indexTransfers(stuck)
    told.push(alarms().length)
  }
  await indexTransfers(world.world)
  await world.tick(1_200)
  await indexTransfers(world.world)

  expect(told).toEqual([0, 0, 1])
  // The run that booked them also reported that they had waited.
  expect(alarms()).toHaveLength(2)
})

test('a deposit is shown before it is final, whatever strangers move to its wallet for nothing', async () => {
  const { world, victim } = await indexed()
  await crowd(world, victim, 150)
  await indexTransfers(world.world)
  await payAs(world, newKey().at, victim.address, 5_000_000n)

  await indexTransfers(world.world)

  const feed = await victim.get('/wallet-activity-list?category=deposit')
  expect(feed.body['items']).toMatchObject([{ amount: '5', status: 'included' }])
  const hidden = await victim.get('/wallet-activity-list?category=deposit&hidden=true&limit=50')
  expect(hidden.body['items']).toHaveLength(20)
  await finalize(world.chain)
  await indexTransfers(world.world)
  expect(await bookedDeposits(world)).toHaveLength(151)
})
