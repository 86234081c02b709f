/** A chain that is cut back, and builds lower blocks again, has no honest account frozen. */
import { expect, test } from 'vitest'
import { newKey } from '../support/chain-world.ts'
import { besideLiar } from '../support/faults/beside-liar.ts'
import { node } from '../support/faults/chain.ts'
import { allowPermit2, bookedOf, signedPermit } from '../support/faults/permits.ts'
import { slowly } from '../support/faults/slow-finality.ts'
import { usdcOf } from '../support/ledger.ts'
import { isFrozen } from '../support/outflows.ts'

test('a permit that is used 80 blocks below the one in which it was signed is settled', async () => {
  const { world, agent, liar, honest } = await besideLiar({ statesMax: 10_000 })
  await allowPermit2(world, agent)
  await node(world, 'anvil_mine', '0x60')
  const go = slowly(world, [liar, honest], { lag: 3, keepsStates: true })
  await go(1)
  await node(world, 'anvil_mine', '0x64')
  const terms = { payee: newKey().at, atomic: 4_000_000n }
  const validBefore = Math.floor(world.world.now().getTime() / 1000) + 299
  const permit = await signedPermit(world, agent, 'exact', { validBefore }, terms)
  await node(world, 'anvil_rollback', 80)

  await permit.use()
  await node(world, 'anvil_mine', '0x90')
  await go(14)

  expect(await usdcOf(world, { address: terms.payee })).toBe(terms.atomic)
  expect(await isFrozen(world, agent)).toBe(false)
  expect(await bookedOf(world, permit.id)).toEqual({ state: 'settled', finality: 'finalized' })
})
