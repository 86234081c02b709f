/** A permit that was used for nothing, on nodes that keep no state but the latest. */
import { Interface } from 'ethers'
import { beforeEach, expect, test } from 'vitest'
import { permit2Address } from '../../shared/chains/evm/places.ts'
import { keepHouse } from '../../shared/payments/housekeeping.ts'
import { hex, newKey } from '../support/chain-world.ts'
import { sendAs } from '../support/deposits.ts'
import { node, pass } from '../support/faults/chain.ts'
import type { Liar } from '../support/faults/liar.ts'
import { forgetting, laterBy, startLiar, stoppedAt } from '../support/faults/liar.ts'
import { acquainted, statesOf } from '../support/ledger.ts'
import { countedOf } from '../support/outflows.ts'
import { permit2Code } from '../support/play/contracts.ts'
import { authorizing } from '../support/signed.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'

const permit2 = new Interface(['function invalidateUnorderedNonces(uint256,uint256)'])

let liar: Liar
let honest: Liar
let world: TestWorld
let payer: Agent
beforeEach(async () => {
  world = await start({
    chain: true,
    endpoints: async (nodeUrl) => {
      liar = await startLiar(nodeUrl)
      honest = await startLiar(nodeUrl)
      return [liar.url, honest.url]
    },
  })
  await node(world, 'anvil_setCode', permit2Address, permit2Code())
  payer = (await acquainted(world)).payer
  liar.tell(forgetting())
  honest.tell(forgetting())
})

/** Signs a permit of `upto`, whose nonce is spent then and nothing moved. */
async function usedForNothing(): Promise<void> {
  const requirement = { extra: { facilitatorAddress: newKey().at } }
  const terms = { transfer_method: 'permit2', scheme: 'upto', requirement }
  const request = await authorizing(world, payer, newKey().at, terms)
  const answer = await world.world.custody?.authorize(request)
  if (answer?.outcome !== 'signed') throw new Error('not signed')
  const [row] = await world.db.sql<{ nonce: string }[]>`
    select authorization_nonce as nonce from private.payments where id = ${request.paymentId}`
  const nonce = BigInt(row?.nonce ?? 0)
  const args = [nonce >> 8n, 1n << (nonce & 0xffn)]
  const data = hex(permit2.encodeFunctionData('invalidateUnorderedNonces', args))
  await sendAs(world, payer.address, data, permit2Address)
}

test('it is booked in full once a final block is later than its end, and not before', async () => {
  await usedForNothing()
  await pass(world, 300)
  await keepHouse(world.world)
  const early = await statesOf(world, payer)
  await pass(world, 400)
  await pass(world, 60)

  await keepHouse(world.world)

  expect(early).toEqual(['signed'])
  expect(await statesOf(world, payer)).toEqual(['settled'])
  expect(await countedOf(world, payer)).toBe('5000000')
  await world.tick(86_401)
  expect(await countedOf(world, payer)).toBe('0')
})

test('while one of two endpoints alone tells that the end is final, it stays reserved', async () => {
  await usedForNothing()
  const before = await node(world, 'eth_blockNumber')
  await world.tick(700)
  liar.tell(forgetting(), laterBy(3_000))
  await keepHouse(world.world)
  const during = await statesOf(world, payer)
  await pass(world, 700)
  honest.tell(forgetting(), stoppedAt(before))

  await keepHouse(world.world)

  expect([during, await statesOf(world, payer)]).toEqual([['signed'], ['signed']])
})
