/** A transfer that the wallet pays for itself can be signed again at a higher price before it is mined. */
import { Transaction } from 'ethers'
import { expect, test } from 'vitest'
import { fund } from '../../scripts/local/chain.ts'
import { node, stopMining } from '../support/faults/chain.ts'
import { onePair, type Pair, transfer } from '../support/faults/pair.ts'
import { usdcOf } from '../support/ledger.ts'
import { start, type TestWorld } from '../support/world.ts'

const world = await start({ chain: true })

/** Sends a transfer from the wallet without mining it; `replace` signs it again at a higher price. */
async function sentByWallet(tests: TestWorld) {
  await tests.db.sql`update private.gas_payers set paused_for = 'a test' where kind = 'relayer'`
  const pair = await onePair(tests)
  await fund(tests.chain, pair.payer.address, { weiAmount: 10n ** 18n })
  await stopMining(tests)
  const { status } = await transfer(tests.worker(), pair)
  expect(status).toBe(200)
  const signed = () => tests.db.sql<{ slot: number; raw: string }[]>`
    select t.slot::integer, t.raw from private.relay_transactions t
      join private.relay_slots s on s.id = t.slot
     where s.gas_payer = ${pair.payer.address} order by t.attempt`
  const [first] = await signed()
  if (!first) throw new Error('nothing was signed')
  const fees = { maxFeePerGas: '2200000000', dataFeeWei: '0', maxPriorityFeePerGas: '1000000000' }
  const replace = async () => tests.world.custody?.replace({ ...fees, slot: first.slot })
  return { ...pair, first: first.raw, signed, replace }
}

const toldIn = (raw: string) => {
  const { to, data, nonce, from } = Transaction.from(raw)
  return { to, data, nonce, from }
}

test('moves what it moved before, at a higher price', async () => {
  const { payer, first, replace } = await sentByWallet(world)

  const second = await replace()

  expect(toldIn(second?.raw ?? '')).toEqual(toldIn(first))
  expect(toldIn(first).from).toBe(payer.address)
})

test.each([
  [
    'payee',
    (pair: Pair) => world.db.sql`
    update private.payments set payee = wallet where account = ${pair.payer.id}`,
  ],
  [
    'amount',
    (pair: Pair) => world.db.sql`
    update private.payments set amount_atomic = amount_atomic + 1 where account = ${pair.payer.id}`,
  ],
])('with another %s in the ledger moves nothing', async (_, change) => {
  const sent = await sentByWallet(world)
  await change(sent)

  await sent.replace()
  await node(world, 'anvil_dropAllTransactions')
  const { raw = '' } = (await sent.signed()).at(-1) ?? {}
  await node(world, 'eth_sendRawTransaction', raw)
  await node(world, 'evm_mine')

  expect(await usdcOf(world, sent.payer)).toBe(1_000_000_000n)
})
