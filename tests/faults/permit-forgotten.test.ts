/** A permit is booked correctly even where nodes keep no state but the latest. */
import { Interface } from 'ethers'
import { beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { permit2Address } from '../../shared/chains/evm/rpc/places.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { hex, newKey } from '../support/chain-world.ts'
import { sendAs } from '../support/deposits.ts'
import { node, pass } from '../support/faults/chain.ts'
import type { Liar, Lie } from '../support/faults/liar.ts'
import { forgetting, laterBy, saying, startLiar, stoppedAt } from '../support/faults/liar.ts'
import { allowPermit2, bookedOf, signedPermit } from '../support/faults/permits.ts'
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

/** Signs an `upto` permit and invalidates its nonce, so that it is spent without a transfer. */
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
  await runHousekeeping(world.world)
  const early = await statesOf(world, payer)
  await pass(world, 400)
  await pass(world, 60)

  await runHousekeeping(world.world)

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
  await runHousekeeping(world.world)
  const during = await statesOf(world, payer)
  await pass(world, 700)
  honest.tell(forgetting(), stoppedAt(before))

  await runHousekeeping(world.world)

  expect([during, await statesOf(world, payer)]).toEqual([['signed'], ['signed']])
})

const askedLogs = z.tuple([z.object({ fromBlock: z.string(), toBlock: z.string() })])

/** Returns a lie: a request for the logs of more than `blocks` blocks fails. */
const tellingLogsOf = (blocks: number): Lie =>
  saying('eth_getLogs', (read, params) => {
    const [{ fromBlock, toBlock }] = askedLogs.parse(params)
    if (Number(toBlock) - Number(fromBlock) >= blocks) throw new Error('block range is too wide')
    return read
  })

test('one that was used is found among 60 blocks, where nodes tell the logs of 40 at once', async () => {
  await allowPermit2(world, payer)
  const permit = await signedPermit(world, payer, 'exact')
  await permit.use()
  await node(world, 'anvil_mine', '0x3c')
  for (const endpoint of [liar, honest]) endpoint.tell(forgetting(), tellingLogsOf(40))
  await pass(world, 61)

  await runHousekeeping(world.world)

  expect(await bookedOf(world, permit.id)).toMatchObject({ state: 'settled' })
})
