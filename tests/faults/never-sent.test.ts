/** Housekeeping first looks at a transaction that was stored and never sent, because the ledger failed. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { refusing } from '../support/faults/answers.ts'
import { node, stopMining } from '../support/faults/chain.ts'
import { orderTo, transferPath } from '../support/faults/pair.ts'
import { acquainted, usdcOf } from '../support/ledger.ts'
import { start } from '../support/world.ts'

const world = await start({ chain: true, lanes: 4 })

test('it is the first that housekeeping looks at, however many others are open', async () => {
  const { payer, payee } = await acquainted(world)
  await stopMining(world)
  for (let at = 0; at < 6; at += 1) await payer.post(transferPath, orderTo(payee))
  const cut = world.worker({ fetch: refusing('housekeeping_dispatch') })
  const sent = await cut.post(payer, transferPath, orderTo(payee))

  const rows = await world.db.sql`
    select t.tx_hash from api.housekeeping_slots(1) s, private.relay_transactions t
     where t.slot = s.slot`
  await runHousekeeping(world.world)
  await node(world, 'anvil_mine', '0x1')

  expect([...rows]).toEqual([{ tx_hash: sent.body['tx_hash'] }])
  expect(await usdcOf(world, payee)).toBe(70_000_000n)
})
