import { beforeAll, expect, test } from 'vitest'
import { callRpc } from '../../scripts/local/rpc.ts'
import { issuer } from '../../scripts/local/tokens.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { pass } from '../support/faults/chain.ts'
import { acquainted, statesOf, usdcOf } from '../support/ledger.ts'
import { signedPayment } from '../support/signed.ts'
import type { TestWorld } from '../support/world.ts'
import { finalize, start } from '../support/world.ts'

const path = '/account-freeze'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

test('a transfer that waits for a lane is withdrawn and never sent', async () => {
  const { payer, payee } = await acquainted(world)
  const transfer = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '1' }
  await world.db.sql`update private.relay_lanes set lease = gen_random_uuid(),
    leased_until = private.clock() + interval '4 seconds'`
  const queued = await payer.post('/wallet-custodial-transfer', transfer)

  const { body } = await payer.post(path, {})
  await world.tick(5)
  await runHousekeeping(world.world)

  expect(queued.body).toMatchObject({ status: 'submitted', finality: 'submitted' })
  expect(queued.body).not.toHaveProperty('tx_hash')
  expect(body).toMatchObject({ cancelling: [], cannot_be_stopped: [] })
  expect(await statesOf(world, payer)).toEqual(['released'])
  expect(await usdcOf(world, payee)).toBe(0n)
})

test('a live authorization is cancelled on chain, and its amount is free once it has ended', async () => {
  const { payer, payee } = await acquainted(world)
  const signed = await signedPayment(world, payer, payee.address)
  await payer.post(path, {})

  await runHousekeeping(world.world)
  await finalize(world.chain)
  await runHousekeeping(world.world)
  const before = await statesOf(world, payer)
  const settle = callRpc(world.chain.rpcUrl, [
    ['eth_call', { from: issuer, to: world.chain.usdc, data: signed.calldata }, 'latest'],
  ])
  await expect(settle).rejects.toThrow('authorization is used or canceled')
  await pass(world, 1_800)
  await runHousekeeping(world.world)

  expect(before).toEqual(['signed'])
  expect(await statesOf(world, payer)).toEqual(['released'])
})
