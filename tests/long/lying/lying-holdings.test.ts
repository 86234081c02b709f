/**
 * One lying endpoint of three, beside an honest one that lags, does not make a relayer spend the gas for
 * cancellations: a balance counts only together with the transactions that the same endpoint counts.
 */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { node, stopMining } from '../../support/faults/chain.ts'
import type { Liar } from '../../support/faults/liar.ts'
import { answering, counting, startLiar, stoppedAt } from '../../support/faults/liar.ts'
import { fundFor, openTwo, usableAfterFreeze } from '../../support/faults/reserve.ts'
import { transferTo } from '../../support/gas.ts'
import { start } from '../../support/world.ts'

const rich = answering('getEthBalance(address)', 10n ** 21n)

async function worldOfThree() {
  const liars: Liar[] = []
  const world = await start({
    chain: true,
    lanes: 1,
    statesMax: 10_000,
    endpoints: async (url) => {
      while (liars.length < 3) liars.push(await startLiar(url))
      return liars.map((one) => one.url)
    },
  })
  const [liar, , slow] = liars
  if (!liar || !slow) throw new Error('there are no three endpoints')
  const { payer, other } = await openTwo(world)
  await fundFor(world, 26n)
  await node(world, 'evm_mine')
  const stopSlow = async () => slow.tell(stoppedAt(await node(world, 'eth_blockNumber')))
  return { world, liar, slow, payer, other, stopSlow }
}

test('20 cancellations are paid for while an honest endpoint lags and one tells of more than there is', async () => {
  const { world, liar, slow, payer, other, stopSlow } = await worldOfThree()
  liar.tell(rich, counting(1))
  await stopSlow()
  const answers: number[] = []
  for (let at = 0; at < 80; at += 1) {
    if (at % 5 === 0) await runHousekeeping(world.world)
    answers.push((await transferTo(world, payer, at, '0.01')).status)
  }
  slow.tell()

  expect(await usableAfterFreeze(world, other)).toBe(0)
  expect(answers).toEqual(expect.arrayContaining([200, 503]))
})

test('nor does a count of what was never signed hide later what is in flight', async () => {
  const { world, liar, slow, payer, other, stopSlow } = await worldOfThree()
  await stopSlow()
  await transferTo(world, payer, 0, '0.01')
  liar.tell(rich, counting(1_000))
  await runHousekeeping(world.world)
  slow.tell()
  await runHousekeeping(world.world)
  await stopMining(world)
  for (let at = 1; at < 61; at += 1) await transferTo(world, payer, at, '0.01')
  const [lane] = await world.db.sql<{ open: string }[]>`
    select (next_nonce - mined_nonce)::text as open from private.relay_lanes where kind = 'relayer'`
  for (let block = 0; block < 12; block += 1) {
    await node(world, 'evm_mine')
    await runHousekeeping(world.world)
  }

  expect(Number(lane?.open)).toBeLessThanOrEqual(16)
  expect(await usableAfterFreeze(world, other)).toBe(0)
})
