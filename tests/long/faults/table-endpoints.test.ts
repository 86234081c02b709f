/** Rows of the fault table hold where an endpoint lies or refuses reads, beside an honest one. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RpcProxy, startRpcProxy } from '../../../scripts/local/chain/rpc-proxy.ts'
import { fund } from '../../../scripts/local/chain.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { node, pass, stopMining } from '../../support/faults/chain.ts'
import { outcomesOf, paidOnce, pairs, transfer } from '../../support/faults/pair.ts'
import { ledgerEqualsChain, settleAll } from '../../support/faults/settle.ts'
import { statesOf } from '../../support/ledger.ts'
import { start, type TestWorld } from '../../support/world.ts'

let world: TestWorld
let first: RpcProxy
beforeAll(async () => {
  world = await start({
    chain: true,
    gasPayers: 2,
    endpoints: async (nodeUrl) => {
      first = await startRpcProxy({ nodeUrl })
      return [first.url, nodeUrl]
    },
  })
  afterAll(() => first.close())
})

const lies = [
  { kind: 'miscount', by: 3 },
  { kind: 'miscount', by: -1 },
  { kind: 'lag', blocks: 20 },
  { kind: 'no_receipts' },
] as const

test.each(lies)(
  '21. an endpoint that lies with %o fails no payment and doubles none',
  async (lie) => {
    const earlier = await pairs(world, 4)
    for (const pair of earlier.slice(0, 2)) await transfer(world.worker(), pair)
    await node(world, 'anvil_mine', '0x20')

    first.set([lie])
    for (const pair of earlier.slice(2)) await transfer(world.worker(), pair)
    for (let minute = 0; minute < 5; minute += 1) {
      await pass(world, 60)
      await runHousekeeping(world.world)
    }
    const during = await outcomesOf(world, earlier)
    first.set([])
    await settleAll(world)

    for (const outcome of during) expect(outcome).toMatch(/^(signed|settled) /)
    expect(await outcomesOf(world, earlier)).toEqual([paidOnce])
    await ledgerEqualsChain(world)
  },
)

test.each([{ kind: 'miscount', by: 3 }, { kind: 'no_receipts' }] as const)(
  '21. an endpoint that lies with %o fails nothing that a wallet sent itself',
  async (lie) => {
    const [pending, mined] = await pairs(world, 2)
    if (!pending || !mined) throw new Error('two pairs are needed')
    await world.db.sql`update private.gas_payers set paused_for = 'a test'`
    await fund(world.chain, pending.payer.address, { weiAmount: 10n ** 18n })
    await fund(world.chain, mined.payer.address, { weiAmount: 10n ** 18n })
    await transfer(world.worker(), mined)
    await node(world, 'anvil_mine', '0x20')
    await stopMining(world)
    await transfer(world.worker(), pending)

    first.set([lie])
    await runHousekeeping(world.world)
    first.set([])
    const during = await statesOf(world, pending.payer)
    await settleAll(world)

    expect(during).toEqual(['signed'])
    expect(await outcomesOf(world, [pending, mined])).toEqual([paidOnce])
    await ledgerEqualsChain(world)
  },
)

test('22. reads that an endpoint turns away as too many stop no payment', async () => {
  const limited = await pairs(world, 4)
  const methods = ['eth_call', 'eth_getTransactionReceipt', 'eth_getLogs', 'eth_feeHistory']

  first.set([{ kind: 'status', status: 429, retryAfterSeconds: 30, methods }])
  const answers = await Promise.all(limited.map((pair) => transfer(world.worker(), pair)))
  await runHousekeeping(world.world)
  const during = await outcomesOf(world, limited)
  first.set([])
  // Finality takes the word of both endpoints.
  await settleAll(world)

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  expect(first.faults.status).toBeGreaterThan(0)
  expect([during, await outcomesOf(world, limited)]).toEqual([[paidOnce], [paidOnce]])
  await ledgerEqualsChain(world)
})
