/** One endpoint that hides the use of a permit, beside payees that use several at once, freezes nobody. */
import { expect, test } from 'vitest'
import { indexTransfers } from '../../../shared/payments/deposits/index-transfers.ts'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { hex, newKey } from '../../support/chain-world.ts'
import { besideLiar } from '../../support/faults/beside-liar.ts'
import { elapse, node, pass } from '../../support/faults/chain.ts'
import { allowPermit2, bookedOf, signedPermit, unspent } from '../../support/faults/permits.ts'
import { minutes } from '../../support/faults/two.ts'
import { usdcOf } from '../../support/ledger.ts'
import { isFrozen } from '../../support/outflows.ts'
import { mineCalls } from '../../support/permit2-decoys.ts'
import { crowd, crowdAddresses } from '../../support/play/contracts.ts'

const facilitator = hex(crowdAddresses[0])

test.each(['exact', 'upto'] as const)(
  'a small permit of %s whose use one endpoint hides does not lose its transfer to a larger one',
  async (scheme) => {
    const { world, agent, liar } = await besideLiar({ statesMax: 10_000 })
    await allowPermit2(world, agent)
    await node(world, 'anvil_mine', '0x40')
    const terms = { payee: newKey().at, facilitator }
    const small = await signedPermit(world, agent, scheme, {}, { ...terms, atomic: 3_000_000n })
    const large = { ...terms, atomic: 6_000_000n, takes: 5_000_000n }
    const other = await signedPermit(world, agent, 'upto', {}, large)
    const used = crowd.run([small.step, other.step])
    await mineCalls(world.chain, [{ target: facilitator, callData: used }])
    liar.tell(unspent([small.nonce]))

    await minutes(world, 24)
    const during = await isFrozen(world, agent)
    liar.tell()
    await minutes(world, 10)

    expect(await usdcOf(world, { address: terms.payee })).toBe(8_000_000n)
    expect([during, await isFrozen(world, agent)]).toEqual([false, false])
    const booked = [await bookedOf(world, small.id), await bookedOf(world, other.id)]
    const settled = { state: 'settled', finality: 'finalized' }
    expect(booked).toEqual([settled, settled])
  },
)

const [atomic, takes] = [6_000_000n, 3_000_000n]

test('a permit that one endpoint shows in the transaction of another keeps its own transfer', async () => {
  const { world, agent, liar } = await besideLiar({ statesMax: 10_000 })
  await allowPermit2(world, agent)
  await node(world, 'anvil_mine', '0x40')
  const terms = { payee: newKey().at, facilitator }
  const moved = await signedPermit(world, agent, 'upto', {}, { ...terms, atomic, takes })
  const other = await signedPermit(world, agent, 'exact', {}, { ...terms, atomic: 4_000_000n })
  await mineCalls(world.chain, [{ target: facilitator, callData: crowd.run([moved.step]) }])
  const block = Number(await node(world, 'eth_blockNumber')) + 17
  liar.tell(unspent([moved.nonce], block))
  await pass(world, 60)
  await other.use()
  for (let look = 0; look < 16; look += 1) {
    await elapse(world, 20)
    await runHousekeeping(world.world)
    if (look === 1) await node(world, 'anvil_mine', '0x10')
    await indexTransfers(world.world)
  }

  expect(await usdcOf(world, { address: terms.payee })).toBe(7_000_000n)
  expect(await isFrozen(world, agent)).toBe(false)
})
