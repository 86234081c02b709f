/** One run of housekeeping handles more open transactions than it takes in one batch. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { node, stopMining } from '../../support/faults/chain.ts'
import { transferPath } from '../../support/faults/pair.ts'
import { acquainted, usdcOf } from '../../support/ledger.ts'
import { anew } from '../../support/wish.ts'
import { start } from '../../support/world.ts'

const world = await start({ chain: true, gasPayers: 4 })
/** Number of transfers, one fewer than the gas payers have room for. */
const count = 55

test('one run sends again all that a node dropped', async () => {
  const { payer, payee } = await acquainted(world)
  const order = { recipient: payee.alias, chain: 'base-sepolia', token: 'USDC', amount: '0.1' }
  await stopMining(world)
  for (let at = 0; at < count; at += 1) await payer.post(transferPath, anew(order))
  const slots = await world.db.sql`select 1 from private.relay_slots where state = 'open'`
  await node(world, 'anvil_dropAllTransactions')

  await runHousekeeping(world.world)
  await node(world, 'anvil_mine', '0x1')

  expect(slots.length).toBeGreaterThan(50)
  expect(await usdcOf(world, payee)).toBe(100_000n * BigInt(count))
})

test('one run notes all that were mined', async () => {
  await runHousekeeping(world.world)

  const open = await world.db.sql`select 1 from private.payments p
    where private.reported_state(p) <> 'settled'`
  expect([...open]).toEqual([])
})
