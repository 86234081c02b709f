/** A payee that takes less than an `upto` permit allows frees nothing before its block is final. */
import { expect, test } from 'vitest'
import { callRpc } from '../../../scripts/local/rpc.ts'
import { closing } from '../../support/ending.ts'
import type { Action } from '../../support/play/actions.ts'
import { sumOf } from '../../support/play/invariants.ts'
import { perform } from '../../support/play/perform.ts'
import type { Play } from '../../support/play/play.ts'
import { openPlay, plainSetting as usual } from '../../support/play/play.ts'

const usd = 1_000_000
const quiet = { every: 1_000, toEnd: false }
const house: Action = { do: 'house' }
const mining = (isOn: boolean): Action => ({ do: 'mining', isOn })
const buy = (dollars: number, to: number): Action => {
  return { do: 'buy', rail: 'upto', micros: dollars * usd, to, crowd: false }
}
const use = (which: number, permille: number): Action => {
  return { do: 'use', which, using: 'plain', permille }
}

const toldPayees: Action[] = [
  { do: 'transfer', micros: usd, to: 0, word: true },
  { do: 'transfer', micros: usd, to: 1, word: true },
  house,
  { do: 'mine', blocks: 40 },
  house,
  { do: 'manner', manner: 'keep' },
]

async function mineOne({ world }: Play) {
  await callRpc(world.chain.rpcUrl, [['anvil_mine', '0x1']])
}

async function takeBack(play: Play, blocks: number) {
  await callRpc(play.world.chain.rpcUrl, [['anvil_reorg', blocks, []]])
  await play.clock.remind()
}

test.each(['one', 'liar last'] as const)(
  'after a block is taken back no more leaves than consents allow; endpoints: %s',
  async (endpoints) => {
    await closing(async () => {
      const play = await openPlay({ ...usual, endpoints })
      const bought = [buy(190, 0), buy(190, 1)]
      await perform(play, [...toldPayees, ...bought, mining(false), use(0, 1), use(1, 1)], quiet)
      await play.clock.advance(1)
      await mineOne(play)
      await perform(play, [house, house, ...bought], quiet)

      await takeBack(play, 1)
      const uses = [0, 1, 2, 3].map((which) => use(which, 1_000))
      await perform(play, [mining(true), ...uses, house, { do: 'mine', blocks: 20 }, house], quiet)

      expect(Number(sumOf(await play.outflows.read()))).toBe(382 * usd)
    })
  },
)

test('after blocks are taken back no more leaves than the cap of a key', async () => {
  await closing(async () => {
    const play = await openPlay({ ...usual, endpoints: 'liar last' })
    await play.world.db.sql`update private.credentials
      set max_per_day_usd_micros = 100000000, max_per_payment_usd_micros = 100000000
      where account = ${play.thief.id} and scopes @> '{pay}'`
    await perform(play, toldPayees, quiet)
    for (const which of [0, 1]) {
      await perform(play, [buy(90, 0), mining(false), use(which, 1)], quiet)
      await mineOne(play)
      await perform(play, [house, house], quiet)
    }
    await perform(play, [buy(90, 0)], quiet)

    await takeBack(play, 2)
    const uses = [0, 1, 2].map((which) => use(which, 1_000))
    await perform(play, [mining(true), ...uses, { do: 'mine', blocks: 20 }, house, house], quiet)

    expect(Number(sumOf(await play.outflows.read()))).toBe(92 * usd)
  })
})
