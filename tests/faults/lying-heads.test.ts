/** No block is skipped when one endpoint lies about the end of the chain or does not report it. */
import { expect, test } from 'vitest'
import { indexTransfers } from '../../shared/payments/deposits/index-transfers.ts'
import { reconcileBalances } from '../../shared/payments/deposits/reconcile.ts'
import { newKey } from '../support/chain-world.ts'
import { payAs } from '../support/deposits.ts'
import {
  besideLiar,
  disagreement,
  received,
  waitingReadings,
} from '../support/faults/beside-liar.ts'
import { aheadBy, refusingCalls, silent, stoppedAt } from '../support/faults/liar.ts'
import { feedOf, passGrace } from '../support/outflows.ts'
import { finalize } from '../support/world.ts'

test.each([
  ['is silent', silent()],
  ['refuses to read logs', refusingCalls('eth_getLogs')],
])('while one of two endpoints %s, deposits are shown as what is not final', async (_, lie) => {
  const { world, agent, liar } = await besideLiar()
  liar.tell(lie)
  await payAs(world, newKey().at, agent.address, 2_000_000n)
  await passGrace(world)
  const during = await feedOf(agent)
  liar.tell()

  await passGrace(world)

  expect(during).toContainEqual(received(expect.not.stringMatching('finalized')))
  expect(await feedOf(agent)).toContainEqual(received('finalized'))
})

test('an end too far ahead that one endpoint told alone is corrected by both', async () => {
  const { world, agent, liar, honest } = await besideLiar()
  liar.tell(aheadBy(200))
  honest.tell(silent())
  await indexTransfers(world.world)
  liar.tell()
  honest.tell()
  await payAs(world, newKey().at, agent.address, 2_000_000n)

  await indexTransfers(world.world)

  expect(await feedOf(agent)).toContainEqual(received('included'))
})

test('no reading begins at an old block that one endpoint tells as the latest', async () => {
  const { world, agent, liar } = await besideLiar()
  const [cursor] = await world.db.sql<{ at: number }[]>`
    select finalized_through::integer - 1 as at from private.transfer_cursors`
  liar.tell(stoppedAt(`0x${Number(cursor?.at).toString(16)}`))

  await reconcileBalances(world.world, true)

  expect(await waitingReadings(world, agent)).toBe(0)
})

test.each([
  ['from the first run on', false],
  ['later', true],
])(
  'an end of the chain that one endpoint tells too far ahead, %s, passes over no block',
  async (_, isBegun) => {
    const { world, agent, liar } = await besideLiar({ isBegun })
    liar.tell(aheadBy(20_000))
    for (let run = 0; run < 3; run += 1) await indexTransfers(world.world)
    liar.tell()
    await payAs(world, newKey().at, agent.address, 2_000_000n)
    await indexTransfers(world.world)
    const seen = await feedOf(agent)

    await finalize(world.chain)
    await indexTransfers(world.world)

    expect(seen.slice(0, 1)).toMatchObject([{ type: 'received', status: 'included' }])
    const [final] = await feedOf(agent)
    expect(final).toMatchObject({ type: 'received', status: 'finalized' })
    expect(world.log).toContainEqual(disagreement)
  },
)
