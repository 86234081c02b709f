/** One endpoint that shows permits at the transfers of others to the same payee freezes nobody. */
import { numberToHex } from 'viem'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { hex, newKey } from '../../support/chain-world.ts'
import { besideLiar } from '../../support/faults/beside-liar.ts'
import { node } from '../../support/faults/chain.ts'
import type { Lie } from '../../support/faults/liar.ts'
import { saying } from '../../support/faults/liar.ts'
import {
  allowPermit2,
  bookedOf,
  signedPermit,
  spent,
  unspent,
} from '../../support/faults/permits.ts'
import { minutes } from '../../support/faults/two.ts'
import { usdcOf } from '../../support/ledger.ts'
import { isFrozen } from '../../support/outflows.ts'
import { mineCalls } from '../../support/permit2-decoys.ts'
import { crowd, crowdAddresses } from '../../support/play/contracts.ts'

const facilitator = hex(crowdAddresses[0])
const settled = { state: 'settled', finality: 'finalized' }
const filter = z.tuple([z.object({ fromBlock: z.string(), toBlock: z.string() })])
const logsSchema = z.array(z.looseObject({ data: z.string(), transactionHash: z.string() }))
type Log = z.output<typeof logsSchema>[number]
const word = (atomic: bigint) => numberToHex(atomic, { size: 32 })

/** Changes the logs of exactly that block. */
function logsIn(block: number, change: (logs: Log[]) => Log[]): Lie {
  return saying('eth_getLogs', (read, params) => {
    const asked = filter.safeParse(params).data?.[0]
    const isThat = Number(asked?.fromBlock) === block && Number(asked?.toBlock) === block
    return isThat ? change(logsSchema.parse(read)) : read
  })
}

async function permitWorld() {
  const two = await besideLiar({ statesMax: 10_000 })
  await allowPermit2(two.world, two.agent)
  await node(two.world, 'anvil_mine', '0x40')
  return two
}

const latest = async (world: Parameters<typeof node>[0]) =>
  Number(await node(world, 'eth_blockNumber'))

const lies = [
  [
    'shows the transfer of the small one alone, as that of the large one',
    (logs: Log[]) =>
      logs
        .filter(({ data }) => data === word(2_000_000n))
        .map((log) => ({ ...log, data: word(6_000_000n) })),
  ],
  [
    'shows both transfers in the transaction of the small one',
    (logs: Log[]) => {
      const transactionHash = logs.at(-1)?.transactionHash ?? ''
      return logs.map((log) => ({ ...log, transactionHash }))
    },
  ],
] as const

test.each(lies)('of two permits in one block, where one endpoint %s', async (_, change) => {
  const { world, agent, liar } = await permitWorld()
  const terms = { payee: newKey().at, facilitator }
  const sign = (atomic: bigint, takes: bigint) =>
    signedPermit(world, agent, 'upto', {}, { ...terms, atomic, takes })
  const large = await sign(6_000_000n, 5_000_000n)
  const small = await sign(3_000_000n, 2_000_000n)
  const callOf = ({ step }: typeof large) => ({ target: facilitator, callData: crowd.run([step]) })
  await mineCalls(world.chain, [callOf(large), callOf(small)])
  liar.tell(logsIn(await latest(world), change))

  await minutes(world, 3)
  liar.tell()
  await minutes(world, 26, 3)

  expect(await usdcOf(world, { address: terms.payee })).toBe(7_000_000n)
  expect(await isFrozen(world, agent)).toBe(false)
  expect(await bookedOf(world, large.id)).toEqual(settled)
  expect(await bookedOf(world, small.id)).toEqual(settled)
})

test.each([
  ['the transfer of another', 600, true],
  ['a later block, while all logs are true', 60, false],
])('a permit that one endpoint shows at %s', async (_, seconds, isValued) => {
  const { world, agent, liar } = await permitWorld()
  const terms = { payee: newKey().at }
  const validBefore = Math.floor(world.world.now().getTime() / 1000) + seconds
  const taken = { atomic: 6_000_000n, takes: 5_000_000n }
  const large = await signedPermit(world, agent, 'upto', { validBefore }, { ...terms, ...taken })
  const small = await signedPermit(world, agent, 'exact', {}, { ...terms, atomic: 3_000_000n })
  await large.use()
  await node(world, 'anvil_mine', '0x2')
  await small.use()
  const block = await latest(world)
  const valued = logsIn(block, (logs) =>
    logs.map((log) => (log.data === word(3_000_000n) ? { ...log, data: word(6_000_000n) } : log)),
  )
  const ofNonces = [unspent([small.nonce]), spent([large.nonce], block)]
  liar.tell(...ofNonces, ...(isValued ? [valued] : []))

  await minutes(world, 24, 3)
  const during = await isFrozen(world, agent)
  liar.tell()
  await minutes(world, 10, 3)

  expect(await usdcOf(world, { address: terms.payee })).toBe(8_000_000n)
  expect([during, await isFrozen(world, agent)]).toEqual([false, false])
  expect(await bookedOf(world, large.id)).toEqual(settled)
  expect(await bookedOf(world, small.id)).toEqual(settled)
})
