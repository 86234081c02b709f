/** No deposit is lost or booked twice when runs abort, overlap, fall behind or meet a refusing node. */
import { expect, test } from 'vitest'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import {
  bookedDeposits,
  depositsInFeed,
  headOf,
  type LogsAsked,
  mine,
  refusing,
  reorg,
  scanChain,
  signedPayments,
  transferTopic,
  useTopic,
} from '../support/deposits.ts'
import { finalize, start, type TestWorld } from '../support/world.ts'

/** Starts a world with a running index, then mines one block for each of `count` payments. */
async function paid(count: number, emptyBetween = 0) {
  const world = await start({ chain: true })
  const agent = await world.agent('read')
  const payments = await signedPayments(
    world,
    Array.from({ length: count }, () => agent),
  )
  await indexTransfers(world.world)
  const since = await headOf(world)
  for (const payment of payments) {
    await mine(world, [payment])
    const empty = `0x${emptyBetween.toString(16)}`
    if (emptyBetween > 0) await callRpc(world.chain.rpcUrl, [['anvil_mine', empty]])
  }
  const expectAll = async () => {
    expect(await bookedDeposits(world)).toEqual(await scanChain(world, [agent], since))
    expect(await depositsInFeed(world, agent)).toEqual(payments.map(({ hash }) => hash))
  }
  return { world, agent, payments, since, expectAll }
}

/** Passes requests for logs to `refuse`, which may reject them. Returns the list of these requests. */
function watching(world: TestWorld, refuse: (asked: LogsAsked) => string | undefined) {
  const asked: LogsAsked[] = []
  const { fetch } = world.world
  world.world.fetch = refusing(fetch, (one) => {
    asked.push(one)
    return refuse(one)
  })
  return asked
}

test('a new installation begins at the final block of then and not at the first of the chain', async () => {
  const world = await start({ chain: true })
  await world.db.sql`delete from private.transfer_cursors`
  const agent = await world.agent('read')
  const old = await signedPayments(world, [agent])
  await mine(world, old)
  await finalize(world.chain)
  const asked = watching(world, () => undefined)

  await indexTransfers(world.world)

  expect(await depositsInFeed(world, agent)).toEqual([])
  expect(asked.map(({ blocks }) => blocks)).toEqual([8])
})

test.each([
  ['before', 1],
  ['before', 2],
  ['after', 1],
  ['after', 2],
] as const)('a run that ends %s its booking number %i is gone on with', async (when, which) => {
  const { world, expectAll } = await paid(3, 5)
  const { db } = world.world
  let bookings = 0
  const breaking = {
    ...world.world,
    db: {
      call: async (...[name, args]: Parameters<typeof db.call>) => {
        const breaks = name.startsWith('housekeeping_book') && ++bookings === which
        if (breaks && when === 'before') throw new Error('the isolate ended')
        const answer = await db.call(name, args)
        if (breaks) throw new Error('the isolate ended')
        return answer
      },
    },
  }

  await indexTransfers(breaking)
  await indexTransfers(world.world)

  expect(bookings).toBe(which)
  await expectAll()
})

test('of runs at the same time one books, and every deposit is told once', async () => {
  const { world, expectAll } = await paid(6, 2)

  const runs = await Promise.all(Array.from({ length: 5 }, () => indexTransfers(world.world)))
  await indexTransfers(world.world)

  expect(runs.reduce((sum, { moved }) => sum + moved, 0)).toBe(6)
  await expectAll()
})

test('a run that read before another booked changes nothing', async () => {
  const { world, payments, agent, since } = await paid(2)
  const { fetch } = world.world
  const newest = `"toBlock":"0x${(await headOf(world)).toString(16)}"`
  const late = {
    ...world.world,
    fetch: async (...[input, init]: Parameters<typeof fetch>) => {
      const answer = await fetch(input, init)
      if (typeof init?.body === 'string' && init.body.includes(newest)) {
        await reorg(
          world,
          2,
          payments.slice(0, 1).map((payment) => [payment, 1] as const),
        )
        await indexTransfers(world.world)
      }
      return answer
    },
  }

  const { moved } = await indexTransfers(late)

  const found = await bookedDeposits(world)
  expect(found).toEqual(await scanChain(world, [agent], since))
  expect([moved, found.length]).toEqual([0, 1])
})

test('a node that caps the range of blocks is read in smaller pieces', async () => {
  const { world, expectAll } = await paid(4, 20)
  const asked = watching(world, ({ blocks }) => (blocks > 10 ? 'at most 10 blocks' : undefined))

  await indexTransfers(world.world)

  expect(Math.min(...asked.map(({ blocks }) => blocks))).toBeGreaterThan(2)
  await expectAll()
})

test('a node that caps the number of results is read in smaller pieces', async () => {
  const { world, expectAll } = await paid(12)
  const { fetch } = world.world
  world.world.fetch = async (input, init) => {
    const answer = await fetch(input, init)
    const text = await answer.text()
    const isTooLong = text.split('"logIndex"').length > 3
    const error = { code: -32005, message: 'query returned more than 2 results' }
    return isTooLong ? Response.json({ jsonrpc: '2.0', id: null, error }) : new Response(text)
  }

  await indexTransfers(world.world)

  await expectAll()
})

test('after a long pause each run does a bounded part, and all is found', async () => {
  const { world, agent, payments, expectAll } = await paid(3, 400)
  const asked = watching(world, ({ blocks }) => (blocks > 10 ? 'at most 10 blocks' : undefined))
  const perRun: number[] = []
  const blocksFinal = (await headOf(world)) - 8

  while ((await depositsInFeed(world, agent)).length < payments.length && perRun.length < 10) {
    const before = asked.length
    await indexTransfers(world.world)
    perRun.push(asked.length - before)
  }

  expect(Math.max(...perRun)).toBeLessThanOrEqual(120)
  expect(perRun.length).toBeGreaterThan(1)
  expect(blocksFinal).toBeGreaterThan(1_000)
  await expectAll()
})

test('a node that fails in the middle of a range is asked again from there', async () => {
  const { world, expectAll } = await paid(6, 8)
  const { fetch } = world.world
  let readings = 0
  watching(world, ({ blocks }) => {
    if (blocks > 10) return 'at most 10 blocks'
    return ++readings > 4 ? 'overloaded' : undefined
  })
  const broken = await indexTransfers(world.world)
  world.world.fetch = fetch

  await indexTransfers(world.world)

  expect(broken.moved).toBeGreaterThan(0)
  expect(broken.moved).toBeLessThan(6)
  expect(world.log).toContainEqual(expect.objectContaining({ operation: 'transfers' }))
  await expectAll()
})

test('a node that does not know the last block yet has read nothing', async () => {
  const { world, expectAll } = await paid(2)
  const { fetch } = world.world
  world.world.fetch = (input, init) => {
    const isLogs = typeof init?.body === 'string' && init.body.includes('eth_getLogs')
    const answers = [
      { jsonrpc: '2.0', id: 0, result: [] },
      { jsonrpc: '2.0', id: 1, result: [] },
      { jsonrpc: '2.0', id: 2, result: null },
    ]
    return isLogs ? Promise.resolve(Response.json(answers)) : fetch(input, init)
  }
  const lagging = await indexTransfers(world.world)
  const before = await bookedDeposits(world)
  world.world.fetch = fetch

  await indexTransfers(world.world)

  expect([lagging.moved, before]).toEqual([0, []])
  await expectAll()
})

test('with its node down a run ends, and the next one finds what it missed', async () => {
  const { world, expectAll } = await paid(1)
  const { fetch } = world.world
  world.world.fetch = () => Promise.reject(new Error('connection refused'))
  const down = await indexTransfers(world.world)
  world.world.fetch = fetch

  await indexTransfers(world.world)

  expect(down).toEqual({ seen: 0, moved: 0 })
  await expectAll()
})

test('up to 1,000 wallets are asked for by name, and beyond all transfers are read', async () => {
  const { world, agent, payments, expectAll } = await paid(2)
  const asked = watching(world, () => undefined)
  await indexTransfers(world.world)
  const some = await signedPayments(world, [agent])
  await world.db.sql`
    with others as (
      insert into private.accounts (alias) select 'other-' || n from generate_series(1, 1000) n
      returning id)
    insert into private.wallets
    select id, 'evm', '0x' || replace(id::text, '-', '') || '00000000' from others`
  payments.push(...some)
  await mine(world, some)
  const { db } = world.world
  const booked: unknown[] = []
  world.world.db = {
    call: (name, args) => {
      if ('transfers' in args) booked.push(args.transfers)
      return db.call(name, args)
    },
  }

  const { seen } = await indexTransfers(world.world)

  const word = `0x${agent.address.slice(2).toLowerCase().padStart(64, '0')}`
  expect(asked.at(0)?.topics).toEqual([transferTopic, null, [word]])
  expect(asked.at(-1)?.topics).toEqual([[transferTopic, useTopic]])
  // Each payer was given its money by a stranger: of such a transfer the database is asked the addresses alone.
  expect(seen).toBeGreaterThan(payments.length)
  expect(booked.flat()).toMatchObject(payments.map(({ hash }) => ({ tx_hash: hash })))
  await expectAll()
})
