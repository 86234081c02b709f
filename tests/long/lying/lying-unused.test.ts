/** One endpoint that shows an unused permit as used does not give it the transfer of another. */
import { expect, test } from 'vitest'
import { hex, newKey } from '../../support/chain-world.ts'
import { besideLiar } from '../../support/faults/beside-liar.ts'
import { node } from '../../support/faults/chain.ts'
import {
  allowPermit2,
  bookedOf,
  signedPermit,
  spent,
  unspent,
} from '../../support/faults/permits.ts'
import { minutes } from '../../support/faults/two.ts'
import { countedOf, isFrozen } from '../../support/outflows.ts'
import { mineCalls } from '../../support/permit2-decoys.ts'
import { crowd, crowdAddresses } from '../../support/play/contracts.ts'

const facilitator = hex(crowdAddresses[0])

test.each([
  ['a smaller', 'upto', 'hides', 3_500_000n],
  ['an equal', 'exact', 'hides', 4_000_000n],
  ['a smaller', 'upto', 'misplaces', 3_500_000n],
] as const)(
  '%s permit of %s stays open while one endpoint %s the use of another',
  async (...row) => {
    const [, scheme, lie, atomic] = row
    const { world, agent, liar } = await besideLiar({ statesMax: 10_000 })
    await allowPermit2(world, agent)
    await node(world, 'anvil_mine', '0x40')
    const terms = { payee: newKey().at, facilitator }
    const unused = await signedPermit(world, agent, scheme, {}, { ...terms, atomic })
    const takes = scheme === 'upto' ? 3_000_000n : 4_000_000n
    const use = { ...terms, atomic: 4_000_000n, takes }
    const used = await signedPermit(world, agent, scheme, {}, use)
    await mineCalls(world.chain, [{ target: facilitator, callData: crowd.run([used.step]) }])
    const block = Number(await node(world, 'eth_blockNumber'))
    const ofUsed = lie === 'hides' ? unspent([used.nonce]) : spent([used.nonce], block - 8)
    liar.tell(spent([unused.nonce], block), ofUsed)

    await minutes(world, 26, 3)
    const during = [await bookedOf(world, unused.id), await isFrozen(world, agent)]
    const counted = BigInt(await countedOf(world, agent))
    liar.tell()
    await minutes(world, 12, 3)

    expect(during).toMatchObject([{ state: 'signed' }, false])
    expect(counted).toBeGreaterThanOrEqual(takes)
    expect(await isFrozen(world, agent)).toBe(false)
    expect(await bookedOf(world, used.id)).toEqual({ state: 'settled', finality: 'finalized' })
    expect(await bookedOf(world, unused.id)).toMatchObject({ state: 'released' })
  },
)
