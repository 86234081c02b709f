/** One endpoint that tells a height far above the chain while a permit is signed, and hides its use. */
import { Interface } from 'ethers'
import { expect, test } from 'vitest'
import { readGasPrice } from '../../shared/chains/evm/gas-price.ts'
import { permit2Address } from '../../shared/chains/evm/places.ts'
import { keepHouse } from '../../shared/payments/housekeeping.ts'
import { indexTransfers } from '../../shared/payments/index-transfers.ts'
import { permit2Payload } from '../../shared/x402/permit2.ts'
import { hex, known, newKey } from '../support/chain-world.ts'
import { sendAs } from '../support/deposits.ts'
import { besideLiar } from '../support/faults/beside-liar.ts'
import { pass } from '../support/faults/chain.ts'
import { answering, silent } from '../support/faults/liar.ts'
import { isFrozen, verdictsOn } from '../support/outflows.ts'
import { permitPayload } from '../support/permit2.ts'
import { placeContracts, settleStep } from '../support/play/contracts.ts'
import { authorizing } from '../support/signed.ts'

const token = new Interface(['function approve(address,uint256)'])
const { chain: network } = known('eip155:84532')

test('a permit that was signed by its word about the height freezes nobody when it is used', async () => {
  const { world, agent, liar, honest } = await besideLiar()
  await placeContracts(world.chain)
  const approve = token.encodeFunctionData('approve', [permit2Address, 10n ** 12n])
  await sendAs(world, agent.address, hex(approve))
  const facilitator = newKey().at
  liar.tell(answering('getBlockNumber()', 10n ** 9n))
  honest.tell(silent())
  const gas = await readGasPrice(world.world, network)
  honest.tell()
  const seenBlock = 'seenBlock' in gas ? gas.seenBlock : 0
  const requirement = { extra: { facilitatorAddress: facilitator } }
  const terms = { transfer_method: 'permit2', scheme: 'upto', requirement }
  const request = { ...(await authorizing(world, agent, newKey().at, terms)), seenBlock }
  const answer = await world.world.custody?.authorize(request)
  if (answer?.outcome !== 'signed' || !answer.authorization) throw new Error('not signed')
  const signed = permit2Payload(
    answer.authorization,
    { scheme: 'upto', facilitator },
    world.chain.usdc,
  )
  const { target, data } = settleStep(permitPayload.parse(signed), 5_000_000n)
  liar.tell(answering('nonceBitmap(address,uint256)', 0n))
  await sendAs(world, facilitator, hex(data), hex(target))

  for (let minute = 0; minute < 5; minute += 1) {
    await pass(world, 60)
    await keepHouse(world.world)
    await indexTransfers(world.world)
  }

  expect(await verdictsOn(world, agent)).toMatchObject([{ verdict: null }])
  expect(await isFrozen(world, agent)).toBe(false)
})
