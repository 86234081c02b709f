/** Honest endpoints and slow finality: a payee that uses some permits and not others confuses nobody. */
import { numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { hex, newKey } from '../../support/chain-world.ts'
import { besideLiar } from '../../support/faults/beside-liar.ts'
import { node } from '../../support/faults/chain.ts'
import { allowPermit2, bookedOf, signedPermit } from '../../support/faults/permits.ts'
import { slowly } from '../../support/faults/slow-finality.ts'
import { usdcOf } from '../../support/ledger.ts'
import { isFrozen, verdictsOn } from '../../support/outflows.ts'
import { mineCalls } from '../../support/permit2-decoys.ts'
import { crowd, crowdAddresses } from '../../support/play/contracts.ts'

const facilitator = hex(crowdAddresses[0])
const settled = { state: 'settled', finality: 'finalized' }

async function slowWorld(lag: number, keepsStates: boolean) {
  const { world, agent, liar, honest } = await besideLiar({ statesMax: 10_000 })
  await allowPermit2(world, agent)
  await node(world, 'anvil_mine', '0x40')
  const go = slowly(world, [liar, honest], { lag, keepsStates })
  await go(1)
  const validBefore = () => Math.floor(world.world.now().getTime() / 1000) + 600
  return { world, agent, go, validBefore }
}

test('a permit that was not used is released, though a larger one took as much', async () => {
  const { world, agent, go, validBefore } = await slowWorld(7, false)
  const terms = { payee: newKey().at, facilitator: newKey().at }
  const [large, small] = [{ atomic: 6_000_000n, takes: 3_000_000n }, { atomic: 4_000_000n }]
  const valid = { validBefore: validBefore() }
  const used = await signedPermit(world, agent, 'upto', valid, { ...terms, ...large })
  const unused = await signedPermit(world, agent, 'upto', valid, { ...terms, ...small })
  await used.use()

  await go(17)

  expect(await usdcOf(world, { address: terms.payee })).toBe(3_000_000n)
  expect(await bookedOf(world, used.id)).toEqual(settled)
  expect(await bookedOf(world, unused.id)).toMatchObject({ state: 'released' })
  expect(await isFrozen(world, agent)).toBe(false)
})

test('also if the block of the larger one holds another use, so that its log is not known', async () => {
  const { world, agent, go, validBefore } = await slowWorld(5, true)
  const terms = { payee: newKey().at, facilitator }
  const valid = { validBefore: validBefore() }
  const sign = (scheme: 'exact' | 'upto', atomic: bigint, takes = atomic) =>
    signedPermit(world, agent, scheme, valid, { ...terms, atomic, takes })
  const large = await sign('upto', 6_000_000n, 3_000_000n)
  const tiny = await sign('upto', 1_000_000n, 500_000n)
  const unused = await sign('exact', 3_000_000n)
  const callData = crowd.run([large.step, tiny.step])
  await mineCalls(world.chain, [{ target: facilitator, callData }])

  await go(14)

  expect(await usdcOf(world, { address: terms.payee })).toBe(3_500_000n)
  expect(await bookedOf(world, large.id)).toEqual(settled)
  expect(await bookedOf(world, unused.id)).toMatchObject({ state: 'released' })
  expect(await isFrozen(world, agent)).toBe(false)
})

test('a payee that names the nonce of one permit where it uses another freezes nobody', async () => {
  const { world, agent, go, validBefore } = await slowWorld(5, false)
  const terms = { payee: newKey().at, atomic: 4_000_000n }
  const first = await signedPermit(world, agent, 'exact', { validBefore: validBefore() }, terms)
  // The nonce is not in the data of the transaction that uses the permit.
  await mineCalls(world.chain, [{ target: facilitator, callData: crowd.store([first.step]) }])
  await mineCalls(world.chain, [{ target: facilitator, callData: crowd.fire() }])
  await go(1)
  await node(world, 'anvil_mine', '0x60')
  await go(1)
  const second = await signedPermit(world, agent, 'exact', { validBefore: validBefore() }, terms)
  const carrying = numberToHex(first.nonce, { size: 32 }).slice(2)
  const callData = crowd.run([second.step])
  await mineCalls(world.chain, [{ target: facilitator, callData, carrying }])

  await go(14)

  expect(await usdcOf(world, { address: terms.payee })).toBe(8_000_000n)
  expect(await isFrozen(world, agent)).toBe(false)
  const verdicts = await verdictsOn(world, agent)
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(['booked', 'booked'])
})
