/** A usable signature counts and is cancelled, although one of two endpoints invents its settlement. */
import { expect, test } from 'vitest'
import { callRpc, transact } from '../../../scripts/local/rpc.ts'
import { issuer } from '../../../scripts/local/tokens.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { elapse, node, pass } from '../../support/faults/chain.ts'
import { finalBlock } from '../../support/faults/forged.ts'
import { answering, silent } from '../../support/faults/liar.ts'
import { onePair } from '../../support/faults/pair.ts'
import { forgeAll, minutes, worldOfTwo } from '../../support/faults/two.ts'
import { usdcOf } from '../../support/ledger.ts'
import { signedPayment } from '../../support/signed.ts'
import type { TestWorld } from '../../support/world.ts'

const used = answering('authorizationState(address,bytes32)', 1n)

/** Signs a purchase whose merchant names an invented transaction. */
async function bought(isFirst = true) {
  const two = await worldOfTwo({ lanes: 2, isFirst })
  const { world } = two
  const pair = await onePair(world)
  await pass(world, 60)
  const payment = await signedPayment(world, pair.payer, pair.payee.address)
  await world.db.sql`update private.payments set state = 'unknown',
    tx_hash = ${`0x${'ab'.repeat(32)}`} where id = ${payment.paymentId}`
  return { ...two, ...pair, payment }
}

/** Lets the holder of a signature use it, if the chain accepts it. */
async function use({ rpcUrl, usdc }: TestWorld['chain'], calldata: `0x${string}`) {
  await callRpc(rpcUrl, [['anvil_impersonateAccount', issuer]])
  await transact(rpcUrl, issuer, usdc, calldata).catch(() => undefined)
}

test('a purchase is final by the block that has it, not by one that is final', async () => {
  const { world, liar, payer, payee, payment } = await bought()
  await pass(world, 60)
  await use(world.chain, payment.calldata)
  liar.tell(await forgeAll(world, payer, await finalBlock(world)))
  await runHousekeeping(world.world)

  await node(world, 'anvil_reorg', 1, [])
  liar.tell()
  await minutes(world, 3)
  await payer.post('/account-freeze', {})
  await minutes(world, 2)
  await use(world.chain, payment.calldata)

  expect(await usdcOf(world, payee)).toBe(0n)
})

test('what is not final counts for 24 hours from the end of its signature', async () => {
  const { world, liar, honest, payer, payee, payment } = await bought()
  await world.db.sql`update private.accounts set asserted_daily_limit_usd_micros = 5000000`
  liar.tell(await forgeAll(world, payer, await finalBlock(world)), used)
  honest.tell(silent())
  await world.tick(60)
  await runHousekeeping(world.world)
  honest.tell()
  await elapse(world, 400)
  await node(world, 'evm_mine')
  await use(world.chain, payment.calldata)
  for (let hour = 0; hour < 23; hour += 1) await pass(world, 3_600)
  await runHousekeeping(world.world)
  await pass(world, 3_590)

  await expect(signedPayment(world, payer, payee.address)).rejects.toThrow('not signed')
  expect(await usdcOf(world, payee)).toBe(5_000_000n)
})
