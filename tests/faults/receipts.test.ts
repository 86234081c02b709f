/** Receipts that are too large, refused or malformed hold up no payment. */
import { Transaction } from 'ethers'
import { beforeEach, expect, test } from 'vitest'
import { issuer } from '../../scripts/local/chain/fund.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { node, pass, sendAs, stopMining } from '../support/faults/chain.ts'
import { type Liar, type Lie, saying, silent, startLiar } from '../support/faults/liar.ts'
import {
  onePair,
  outcomeOf,
  outcomesOf,
  type Pair,
  paidOnce,
  pairs,
  transfer,
} from '../support/faults/pair.ts'
import { settleAll } from '../support/faults/settle.ts'
import { start, type TestWorld } from '../support/world.ts'

let first: Liar
let second: Liar
let world: TestWorld
beforeEach(async () => {
  world = await start({
    chain: true,
    gasPayers: 2,
    endpoints: async (nodeUrl) => {
      first = await startLiar(nodeUrl)
      second = await startLiar(nodeUrl)
      return [first.url, second.url]
    },
  })
})

/** Returns a lie that applies `change` to the receipt of one transaction. */
function receiptOf(hash: unknown, change: (receipt: object) => unknown): Lie {
  return saying('eth_getTransactionReceipt', (receipt, [asked]) =>
    asked === hash && typeof receipt === 'object' && receipt !== null ? change(receipt) : receipt,
  )
}

const refused = () => {
  throw new Error('the receipt cannot be served')
}

/** Brings the transfer to the chain before the relayer's transaction, which then fails. */
async function overtake({ payer }: Pair): Promise<string> {
  const [row] = await world.db.sql<{ raw: string }[]>`
    select t.raw from private.relay_transactions t join private.relay_calls c on c.slot = t.slot
      join private.payments p on p.id = c.payment where p.account = ${payer.id}`
  const { data } = Transaction.from(row?.raw ?? '')
  const call = { to: world.chain.usdc, data, maxFeePerGas: '0x174876e800' }
  const hash = await sendAs(world, issuer, call)
  await node(world, 'evm_mine')
  return hash
}

const manyLogs = (receipt: object) => ({
  ...receipt,
  logs: Array.from({ length: 2_001 }, () => ('logs' in receipt ? receipt.logs : [])).flat(),
})

test('a payment that somebody brought in a transaction with thousands of logs is settled at once', async () => {
  const pair = await onePair(world)
  await stopMining(world)
  const { body } = await transfer(world.worker(), pair)
  const theirs = await overtake(pair)
  first.tell(receiptOf(theirs, manyLogs))
  second.tell(receiptOf(theirs, manyLogs))

  await runHousekeeping(world.world)
  const shown = await pair.payer.post('/transfer-status', { transfer_id: body['transfer_id'] })
  await pass(world, 60)
  await runHousekeeping(world.world)
  const final = await pair.payer.post('/transfer-status', { transfer_id: body['transfer_id'] })

  expect(shown.body).toMatchObject({ status: 'settled', tx_hash: theirs })
  expect(final.body).toMatchObject({ status: 'settled', finality: 'finalized' })
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
})

test('a receipt that one endpoint refuses holds up no other, and is read from the next', async () => {
  const [odd, even] = await pairs(world, 2)
  if (!odd || !even) throw new Error('there are no pairs')
  const { body } = await transfer(world.worker(), odd)
  await transfer(world.worker(), even)
  first.tell(receiptOf(body['tx_hash'], refused))

  await runHousekeeping(world.world)

  expect(await outcomesOf(world, [odd, even])).toEqual([paidOnce])
})

test('a receipt that nobody can read holds up no other, and its transaction is taken for sent', async () => {
  const [odd, even] = await pairs(world, 2)
  if (!odd || !even) throw new Error('there are no pairs')
  const { body } = await transfer(world.worker(), odd)
  await transfer(world.worker(), even)
  await pass(world, 0)
  for (const endpoint of [first, second]) endpoint.tell(receiptOf(body['tx_hash'], refused))

  await runHousekeeping(world.world)
  const states = await world.db.sql`
    select s.state, c.tries from private.relay_calls c join private.relay_slots s on s.id = c.slot
     order by s.state`
  const during = await outcomesOf(world, [odd, even])
  for (const endpoint of [first, second]) endpoint.tell()
  await settleAll(world)

  expect(during).toContain(paidOnce)
  expect(states).toEqual([
    { state: 'final', tries: 1 },
    { state: 'open', tries: 1 },
  ])
  expect(await outcomesOf(world, [odd, even])).toEqual([paidOnce])
})

test('slots are followed as long as one endpoint answers', async () => {
  const pair = await onePair(world)
  await transfer(world.worker(), pair)
  first.tell(silent())

  await runHousekeeping(world.world)

  expect(await outcomeOf(world, pair)).toBe(paidOnce)
})
