import { beforeAll, expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { acquainted, statesOf, usdcOf } from '../support/ledger.ts'
import { start, type TestWorld } from '../support/world.ts'

const path = '/account-freeze'

let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

test('a transfer that waits for a relayer is withdrawn and never sent', async () => {
  const { payer, payee } = await acquainted(world)
  const transfer = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '1' }
  await world.db.sql`update private.gas_payers set lease = gen_random_uuid(),
    leased_until = private.clock() + interval '4 seconds'`
  const queued = await payer.post('/wallet-custodial-transfer', transfer)

  const { body } = await payer.post(path, {})
  await world.tick(5)
  await runHousekeeping(world.world)

  expect(queued.body).toMatchObject({ status: 'submitted', finality: 'submitted' })
  expect(queued.body).not.toHaveProperty('tx_hash')
  expect(body).toMatchObject({ may_settle: [], stopped: [] })
  expect(await statesOf(world, payer)).toEqual(['released'])
  expect(await usdcOf(world, payee)).toBe(0n)
})
