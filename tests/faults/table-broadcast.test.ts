/** Rows of the fault table hold where transaction bytes get lost, are not mined, or lose their answer. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RpcProxy, type Rule, startRpcProxy } from '../../scripts/local/chain/rpc-proxy.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { elapse, node, stopMining } from '../support/faults/chain.ts'
import {
  onePair,
  outcomeOf,
  outcomesOf,
  type Pair,
  paidOnce,
  pairs,
  transfer,
} from '../support/faults/pair.ts'
import { ledgerEqualsChain, settleAll } from '../support/faults/settle.ts'
import { start, type TestWorld } from '../support/world.ts'

const broadcasting = ['eth_sendRawTransaction']

let world: TestWorld
let proxy: RpcProxy
beforeAll(async () => {
  world = await start({
    chain: true,
    endpoints: async (nodeUrl) => {
      proxy = await startRpcProxy({ nodeUrl, onSilence: (request) => world.expire(request) })
      return [proxy.url]
    },
  })
  afterAll(() => proxy.close())
})

/** Returns all transactions signed for the slot of a payment, the first one included. */
async function attemptsOf({ payer }: Pair) {
  return world.db.sql<{ hash: string; nonce: number; fee: string; tip: string }[]>`
    select t.tx_hash as hash, s.nonce::integer, t.max_fee_per_gas::text as fee,
      t.max_priority_fee_per_gas::text as tip
    from private.relay_transactions t join private.relay_slots s on s.id = t.slot
      join private.relay_calls c on c.slot = s.id join private.payments p on p.id = c.payment
    where p.account = ${payer.id} order by t.attempt`
}

const lossy: [string, Rule][] = [
  ['8. a broadcast that is lost on its way', { kind: 'drop', methods: broadcasting }],
  ['9. a broadcast whose answer is lost', { kind: 'lose', methods: broadcasting }],
  [
    '9. a broadcast that is taken and answered with 502',
    { kind: 'status', status: 502, acted: true, methods: broadcasting },
  ],
  [
    '9. a broadcast that is refused with 502',
    { kind: 'status', status: 502, methods: broadcasting },
  ],
  ['9. a broadcast that is not answered in time', { kind: 'silence', methods: broadcasting }],
  ['10. a broadcast that is delivered twice', { kind: 'duplicate', methods: broadcasting }],
]

test.each(lossy)('%s is submitted, and paid once', async (_, rule) => {
  const pair = await onePair(world)

  proxy.set([rule])
  const sent = await transfer(world.worker(), pair)
  proxy.set([])
  await runHousekeeping(world.world)
  await settleAll(world)

  expect(sent.body).toMatchObject({ status: 'submitted', finality: 'submitted' })
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
  expect(await attemptsOf(pair)).toHaveLength(1)
  await ledgerEqualsChain(world)
})

test('10. bytes that the chain has already take no second nonce', async () => {
  const pair = await onePair(world)
  await stopMining(world)
  await transfer(world.worker(), pair)

  for (let round = 0; round < 3; round += 1) await runHousekeeping(world.world)
  const pending = await attemptsOf(pair)
  await node(world, 'evm_mine')
  proxy.set([{ kind: 'no_receipts' }])
  await runHousekeeping(world.world)
  proxy.set([])
  const mined = await attemptsOf(pair)
  await settleAll(world)

  expect(pending).toHaveLength(1)
  expect(mined).toEqual(pending)
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
  await ledgerEqualsChain(world)
})

test('11. a transaction below the base fee is replaced at its nonce, an eighth dearer or more', async () => {
  const pair = await onePair(world)
  await stopMining(world)
  await transfer(world.worker(), pair)
  await node(world, 'anvil_setNextBlockBaseFeePerGas', '0x174876e800')
  await node(world, 'evm_mine')

  await runHousekeeping(world.world)
  const attempts = await attemptsOf(pair)
  await node(world, 'evm_mine')
  await settleAll(world)

  const [first, second] = attempts
  expect(attempts).toHaveLength(2)
  expect(second?.nonce).toBe(first?.nonce)
  expect(8n * BigInt(second?.fee ?? 0)).toBeGreaterThanOrEqual(9n * BigInt(first?.fee ?? 0))
  expect(8n * BigInt(second?.tip ?? 0)).toBeGreaterThanOrEqual(9n * BigInt(first?.tip ?? 0))
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
  await ledgerEqualsChain(world)
})

test('12. a transaction that the pool dropped is sent again as it was', async () => {
  const pair = await onePair(world)
  await stopMining(world)
  const { body } = await transfer(world.worker(), pair)
  await node(world, 'anvil_dropTransaction', body['tx_hash'])

  await runHousekeeping(world.world)
  await node(world, 'evm_mine')
  await settleAll(world)

  expect(await attemptsOf(pair)).toMatchObject([{ hash: body['tx_hash'] }])
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
  await ledgerEqualsChain(world)
})

test('13. while nothing is mined a transfer is submitted, dearer each minute, and never failed', async () => {
  const pair = await onePair(world)
  await stopMining(world)
  const { body } = await transfer(world.worker(), pair)
  const seen = []

  for (let minute = 1; minute < 10; minute += 1) {
    await elapse(world, 60)
    await runHousekeeping(world.world)
    const shown = await pair.payer.post('/transfer-status', { tx_hash: body['tx_hash'] })
    seen.push(shown.body['status'])
  }
  const attempts = await attemptsOf(pair)
  await node(world, 'evm_mine')
  await settleAll(world)

  expect(new Set(seen)).toEqual(new Set(['submitted']))
  expect(attempts.length).toBeGreaterThanOrEqual(5)
  expect(new Set(attempts.map(({ nonce }) => nonce)).size).toBe(1)
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
  await ledgerEqualsChain(world)
})

test('13. a slot that stays unmined after twelve attempts is told to the operator', async () => {
  const pair = await onePair(world)
  await stopMining(world)
  await transfer(world.worker(), pair)
  const told = () => world.log.filter(({ alarm }) => alarm === 'slot_stuck').length
  const before = told()
  const seen = []

  for (let minute = 1; minute < 16; minute += 1) {
    await elapse(world, 60)
    await runHousekeeping(world.world)
    seen.push(told() > before)
  }
  const attempts = await attemptsOf(pair)
  await node(world, 'evm_mine')
  await settleAll(world)

  expect([seen[0], seen.at(-1)]).toEqual([false, true])
  expect(attempts.length).toBeGreaterThanOrEqual(12)
  await ledgerEqualsChain(world)
})

test('13. what was not mined in its ten minutes is released by a finalized block and nothing less', async () => {
  const late = await pairs(world, 3)
  await stopMining(world)
  for (const pair of late) await transfer(world.worker(), pair)

  await elapse(world, 700)
  await runHousekeeping(world.world)
  const byClock = await outcomesOf(world, late)
  await node(world, 'evm_mine')
  await runHousekeeping(world.world)
  const byLatestBlock = await outcomesOf(world, late)
  await settleAll(world)

  expect([byClock, byLatestBlock]).toEqual([['signed 0'], ['signed 0']])
  expect(await outcomesOf(world, late)).toEqual(['released 0'])
  await ledgerEqualsChain(world)
})
