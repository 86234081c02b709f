/** Rows of the fault table hold for each way in which the chain treats a transaction. */
import { Transaction } from 'ethers'
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { issuer } from '../../scripts/local/chain/fund.ts'
import { blacklist, pause, unblacklist, unpause } from '../../scripts/local/chain.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { elapse, node, pass, sendAs, stopMining } from '../support/faults/chain.ts'
import { onePair, outcomeOf, type Pair, paidOnce, transfer } from '../support/faults/pair.ts'
import { ledgerEqualsChain, settleAll } from '../support/faults/settle.ts'
import { statesOf } from '../support/ledger.ts'
import { start, type TestWorld } from '../support/world.ts'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

const left = z.object({ left_usd: z.string() })
const windows = z.object({ automatic_daily: left, asserted_daily: left, daily_spending_cap: left })

/** Returns the limits that are left, the reserved funds and the feed of an account. */
async function seenBy({ payer }: Pair) {
  const identity = await payer.get('/get-identity')
  const balances = await payer.post('/get-wallet-balances', {})
  const feed = await world.db.sql<{ type: string }[]>`
    select type from private.activities where account = ${payer.id} order by id`
  return {
    left: windows.parse(identity.body['limits']),
    reserved: balances.body['reserved_usd'],
    feed: feed.map(({ type }) => type),
  }
}

/** Returns the calldata of a signed transfer, which anybody can read in the pool. */
async function callOf({ payer }: Pair): Promise<string> {
  const [row] = await world.db.sql<{ raw: string }[]>`
    select t.raw from private.relay_transactions t join private.relay_calls c on c.slot = t.slot
      join private.payments p on p.id = c.payment where p.account = ${payer.id}`
  return Transaction.from(row?.raw ?? '').data
}

test('15. a payment that a stranger brought to the chain first is settled by their transaction', async () => {
  const pair = await onePair(world)
  await stopMining(world)
  const { body } = await transfer(world.worker(), pair)
  const data = await callOf(pair)
  await node(world, 'anvil_dropTransaction', body['tx_hash'])
  const theirs = await sendAs(world, issuer, { to: world.chain.usdc, data })
  await node(world, 'evm_mine')

  await runHousekeeping(world.world)
  await settleAll(world)

  const shown = await pair.payer.post('/transfer-status', { transfer_id: body['transfer_id'] })
  expect(shown.body).toMatchObject({ status: 'settled', tx_hash: theirs, finality: 'finalized' })
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
  await ledgerEqualsChain(world)
})

test('16. a reorg of any depth from 1 to 8 reopens a payment, and its same signature pays it once', async () => {
  await pass(world, 0)
  for (const depth of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const pair = await onePair(world)
    await pass(world, 0)
    await stopMining(world)
    const { body } = await transfer(world.worker(), pair)
    await node(world, 'anvil_mine', depth)
    await runHousekeeping(world.world)
    const included = await seenBy(pair)

    await node(world, 'anvil_reorg', depth, [])
    await runHousekeeping(world.world)
    const gone = await seenBy(pair)
    const reopened = await statesOf(world, pair.payer)
    await settleAll(world)
    await node(world, 'evm_setAutomine', true)
    const settled = await seenBy(pair)

    expect(reopened).toEqual(['signed'])
    expect([included.reserved, gone.reserved, settled.reserved]).toEqual(['0', '10', '0'])
    expect([gone.left, settled.left]).toEqual([included.left, included.left])
    expect(gone.feed).toEqual(['transfer_authorized', 'received', 'transfer_reorged'])
    expect(await outcomeOf(world, pair)).toBe(paidOnce)
    const shown = await pair.payer.post('/transfer-status', { tx_hash: body['tx_hash'] })
    expect(shown.body).toMatchObject({ status: 'settled', finality: 'finalized' })
  }
  await ledgerEqualsChain(world)
})

test('17. after a reorg in which an earlier attempt wins, that attempt settles it, once', async () => {
  const pair = await onePair(world)
  await stopMining(world)
  const { body } = await transfer(world.worker(), pair)
  await elapse(world, 60)
  await runHousekeeping(world.world)
  await node(world, 'evm_mine')
  await runHousekeeping(world.world)
  const attempts = await world.db.sql<{ hash: string; raw: string }[]>`
    select t.tx_hash as hash, t.raw from private.relay_transactions t
      join private.relay_calls c on c.slot = t.slot join private.payments p on p.id = c.payment
     where p.account = ${pair.payer.id} order by t.attempt`
  const before = await pair.payer.post('/transfer-status', { transfer_id: body['transfer_id'] })

  await node(world, 'anvil_reorg', 1, [[attempts[0]?.raw, 0]])
  await runHousekeeping(world.world)
  await settleAll(world)

  const after = await pair.payer.post('/transfer-status', { transfer_id: body['transfer_id'] })
  expect(attempts).toHaveLength(2)
  expect(before.body).toMatchObject({ status: 'settled', tx_hash: attempts[1]?.hash })
  expect(after.body).toMatchObject({ status: 'settled', tx_hash: attempts[0]?.hash })
  expect(await outcomeOf(world, pair)).toBe(paidOnce)
  await ledgerEqualsChain(world)
})

test('25. while the issuer bars a payment nothing is reserved for it', async () => {
  const pair = await onePair(world)

  await pause(world.chain)
  const paused = await transfer(world.worker(), pair)
  await unpause(world.chain)
  await blacklist(world.chain, pair.payee.address)
  const barred = await transfer(world.worker(), pair)
  await unblacklist(world.chain, pair.payee.address)

  expect(paused).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(barred.body).toMatchObject({ error: 'recipient_refused' })
  expect(await outcomeOf(world, pair)).toBe('prepared,prepared 0')
})

test.each(['pause', 'blacklist'])(
  '25. a payment that the issuer stops by a %s after it was signed is released, on chain evidence',
  async (how) => {
    const pair = await onePair(world)
    await stopMining(world)
    const { body } = await transfer(world.worker(), pair)
    await node(world, 'anvil_dropTransaction', body['tx_hash'])
    await node(world, 'evm_setAutomine', true)
    if (how === 'pause') await pause(world.chain)
    else await blacklist(world.chain, pair.payee.address)

    await runHousekeeping(world.world)
    await node(world, 'evm_mine')
    await runHousekeeping(world.world)
    const reverted = await outcomeOf(world, pair)
    await settleAll(world)
    if (how === 'pause') await unpause(world.chain)

    const shown = await pair.payer.post('/transfer-status', { transfer_id: body['transfer_id'] })
    expect(reverted).toBe('signed 0')
    expect(shown.body).toMatchObject({ status: 'released' })
    expect((await seenBy(pair)).reserved).toBe('0')
    expect(await outcomeOf(world, pair)).toBe('released 0')
    await ledgerEqualsChain(world)
  },
)
