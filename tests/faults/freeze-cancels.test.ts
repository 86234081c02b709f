/** A freeze cancels every payment that it reports as being cancelled, and reports only its own effects. */
import { expect, test } from 'vitest'
import { maxFeePerGasOf } from '../../shared/chains/evm/gas/gas-budget.ts'
import { findChain } from '../../shared/chains/registry.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { newKey } from '../support/chain-world.ts'
import { sendAs } from '../support/deposits.ts'
import { elapse, expectUnusable, mineAt, node, stopMining } from '../support/faults/chain.ts'
import { holdLanes, orderTo, transferPath } from '../support/faults/pair.ts'
import { limitGas } from '../support/gas.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { ownerOf } from '../support/owner.ts'
import { signedPayment } from '../support/signed.ts'
import { start } from '../support/world.ts'

const world = await start({ chain: true })
const path = '/account-freeze'

test('a cancellation leaves at up to four times the budget also with a transfer in its transaction', async () => {
  const chain = findChain(world.chain.network)
  const dear = chain ? 2n * maxFeePerGasOf(chain, world.world.config) : 0n
  const [busy, { payer, payee }] = [await acquainted(world), await acquainted(world)]
  await mineAt(world, 10n ** 8n)
  await stopMining(world)
  const signed = await signedPayment(world, payer, payee.address)
  await holdLanes(world)
  await world.worker().post(busy.payer, transferPath, orderTo(busy.payee))

  await payer.post(path, {})
  await elapse(world, 6)
  await runHousekeeping(world.world)
  const [shared] = await world.db.sql<{ kinds: string[] }[]>`
    select array_agg(kind order by kind) as kinds from private.relay_calls where slot is not null`
  for (let run = 0; run < 4; run += 1) {
    await mineAt(world, dear)
    await elapse(world, 61)
    await runHousekeeping(world.world)
  }
  await mineAt(world, dear)

  expect(shared?.kinds).toEqual(['cancel', 'transfer'])
  await expectUnusable(world, signed.calldata)
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('what came back from a block that is gone, and has no gas for it, is not told as being cancelled', async () => {
  const { payer, payee } = await acquainted(world)
  await world.db.sql`update private.accounts set asserted_daily_limit_usd_micros = 1e12,
    asserted_new_recipient_limit_usd_micros = 1e12, daily_spending_cap_usd_micros = 1e12`
  await limitGas(world, { cancelsPerDay: 52n })
  const small = await signedPayment(world, payer, payee.address, '1000000')
  const since = Number(await node(world, 'eth_blockNumber'))
  await sendAs(world, newKey().at, small.calldata)
  await elapse(world, 46)
  await runHousekeeping(world.world)
  for (let at = 0; at < 52; at += 1) {
    await signedPayment(world, payer, payee.address, '2000000')
  }
  await node(world, 'anvil_reorg', Number(await node(world, 'eth_blockNumber')) - since, [])
  await world.tick(46)
  await runHousekeeping(world.world)

  const { body } = await payer.post(path, {})

  const named = { payment_id: small.paymentId, why: 'not_queued' }
  expect(body).toMatchObject({ cannot_be_stopped: [named] })
  expect(body['cancelling']).toHaveLength(52)
})

test('after a place in the list of an earlier freeze the list begins', async () => {
  const { payer, payee } = await acquainted(world)
  await signedPayment(world, payer, payee.address)
  const owner = await ownerOf(world, payer)
  await payer.post(path, {})
  const [{ freezes } = { freezes: 0 }] = await world.db.sql<{ freezes: number }[]>`
    select freezes::integer from private.accounts where id = ${payer.id}`
  const cursor = (freeze: number) => String(freeze * 1_000_000_000 + 1)

  const here = await payer.post(path, { cursor: cursor(freezes) })
  await owner.unfreeze()
  await payer.post(path, {})
  const earlier = await payer.post(path, { cursor: cursor(freezes) })

  expect(here.body).toMatchObject({ cancelling: [], ended: [] })
  expect(earlier.body['cancelling']).toHaveLength(1)
})
