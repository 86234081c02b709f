/** One endpoint that overstates a relayer's balance does not make it spend the gas for cancellations. */
import { expect, test } from 'vitest'
import { runHousekeeping } from '../../../shared/payments/settle/housekeeping.ts'
import { answering } from '../../support/faults/liar.ts'
import { fundFor, openTwo, usableAfterFreeze } from '../../support/faults/reserve.ts'
import { worldOfTwo } from '../../support/faults/two.ts'
import { transferTo } from '../../support/gas.ts'

const rich = answering('getEthBalance(address)', 10n ** 21n)

test.each([true, false])(
  '20 cancellations are paid for by a relayer that one endpoint tells rich; asked first: %s',
  async (isFirst) => {
    const { world, liar } = await worldOfTwo({ lanes: 1, isFirst })
    const { payer, other } = await openTwo(world)
    await fundFor(world, 26n)

    liar.tell(rich)
    const answers: number[] = []
    for (let at = 0; at < 80; at += 1) {
      if (at % 10 === 0) await runHousekeeping(world.world)
      answers.push((await transferTo(world, payer, at, '0.01')).status)
    }

    expect(await usableAfterFreeze(world, other)).toBe(0)
    expect(answers).toEqual(expect.arrayContaining([200, 503]))
  },
)

test('a relayer whose balance enough endpoints never told carries no transfer before they do', async () => {
  const { world, liar } = await worldOfTwo({ lanes: 1, isFirst: true })
  const payer = await world.agent('pay', { usdc: 1000 })
  const carried = async () => {
    const [lane] = await world.db.sql<{ next_nonce: string }[]>`
      select next_nonce::text from private.relay_lanes where kind = 'relayer'`
    return Number(lane?.next_nonce)
  }
  await world.db.sql`update private.relay_lanes set told_wei = null, told_nonce = null
    where kind = 'relayer'`
  liar.tell(rich)

  await transferTo(world, payer, 0, '0.01')
  const early = await carried()
  liar.tell()
  await runHousekeeping(world.world)
  const { status } = await transferTo(world, payer, 1, '0.01')

  expect([early, status, await carried()]).toEqual([0, 200, 1])
})
