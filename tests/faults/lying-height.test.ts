/**
 * An endpoint that reports a far too high block when a permit is signed, then hides its use, freezes
 * nobody.
 */
import { expect, test } from 'vitest'
import { readGasPrice } from '../../shared/chains/evm/gas/gas-price.ts'
import { known } from '../support/chain-world.ts'
import { besideLiar } from '../support/faults/beside-liar.ts'
import { answering, silent } from '../support/faults/liar.ts'
import { allowPermit2, signedPermit } from '../support/faults/permits.ts'
import { minutes } from '../support/faults/two.ts'
import { isFrozen, verdictsOn } from '../support/outflows.ts'

const { chain: network } = known('eip155:84532')

test('a permit that was signed by its word about the height freezes nobody when it is used', async () => {
  const { world, agent, liar, honest } = await besideLiar()
  await allowPermit2(world, agent)
  liar.tell(answering('getBlockNumber()', 10n ** 9n))
  honest.tell(silent())
  const gas = await readGasPrice(world.world, network)
  honest.tell()
  const seenBlock = 'seenBlock' in gas ? gas.seenBlock : 0
  const permit = await signedPermit(world, agent, 'upto', { seenBlock })
  liar.tell(answering('nonceBitmap(address,uint256)', 0n))
  await permit.use()

  await minutes(world, 5)

  expect(await verdictsOn(world, agent)).toMatchObject([{ verdict: null }])
  expect(await isFrozen(world, agent)).toBe(false)
})
