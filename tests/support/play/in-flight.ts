/**
 * Many payments under way on every rail, and a freeze at some moment between them. Afterwards the thief
 * takes out as much as possible: all signatures are used, and blocks are replaced.
 */
import { closing } from '../ending.ts'
import { type Dice, diceOf } from '../model/dice.ts'
import type { Action } from './actions.ts'
import { mine } from './blocks.ts'
import { brokenInvariant } from './invariants.ts'
import { openShop } from './outside-acts.ts'
import { act, watchSending } from './perform.ts'
import { openPlay, type Play, plainSetting } from './play.ts'
import { settleDown } from './settle-down.ts'

const atOnce = 5
const limitMicros = 100_000_000_000n

/** Plays this with a number of payments and returns a description of what broke. */
export function freezeInFlight(seed: number, payments: number): Promise<string | undefined> {
  return closing(async () => {
    const dice = diceOf(seed)
    const play = await openPlay({ ...plainSetting, gasPayers: 2 })
    await raiseLimits(play)
    openShop(play)
    watchSending(play)
    await sendAll(play, dice, payments)
    await afterwards(play, dice)
    const broken =
      tooFewOpen(play, payments) ?? (await brokenInvariant(play)) ?? (await settleDown(play))
    return broken === undefined ? undefined : `SEED=${seed}\n${broken}`
  })
}

/**
 * Returns a complaint if the freeze names fewer than one in five payments: a freeze with nothing open shows
 * nothing.
 */
function tooFewOpen({ book }: Play, payments: number): string | undefined {
  const named = book.freezes.flatMap((freeze) => freeze.named).length
  if (named >= payments / 5) return undefined
  return `in flight: of ${payments} payments the freeze names ${named}`
}

/** Raises the limits, so that only the freeze stops payments. */
async function raiseLimits({ world, thief, book, clock }: Play): Promise<void> {
  const most = `${limitMicros}`
  await world.db.sql`update private.accounts set automatic_daily_limit_usd_micros = ${most},
    asserted_daily_limit_usd_micros = ${most}, daily_spending_cap_usd_micros = ${most}
    where id = ${thief.id}`
  const limits = { automatic: limitMicros, asserted: limitMicros, total: limitMicros }
  book.limits.push({ at: clock.seconds(), ...limits })
}

/** Sends all payments. The freeze comes in the last quarter, so that most are under way. */
async function sendAll(play: Play, dice: Dice, payments: number): Promise<void> {
  const frozenAt = payments - 1 - dice.below(Math.ceil(payments / 4))
  for (let at = 0; at < payments; at += atOnce) {
    await play.clock.advance(1)
    if (dice.isLucky(40)) await act(play, weather(dice))
    const numbers = Array.from({ length: Math.min(atOnce, payments - at) }, (_, more) => at + more)
    await Promise.all(
      numbers.flatMap((number) => {
        const paying = act(play, payment(dice, number))
        return number === frozenAt ? [paying, act(play, { do: 'freeze' })] : [paying]
      }),
    )
    if (play.isMining) await mine(play.world.chain)
  }
}

/** Returns a payment with an amount of its own, which identifies it on the chain. */
function payment(dice: Dice, number: number): Action {
  const micros = 1_000_000 + number
  const to = dice.below(3)
  if (dice.isLucky(40)) return { do: 'transfer', micros, to, word: true }
  const rail = dice.oneOf(['eip3009', 'mpp', 'exact', 'upto'])
  return { do: 'buy', rail, micros, to, crowd: dice.isLucky(50) }
}

function weather(dice: Dice): Action {
  return dice.oneOf<Action>([
    { do: 'manner', manner: 'keep' },
    { do: 'manner', manner: 'error' },
    { do: 'manner', manner: 'lost' },
    { do: 'mining', isOn: false },
    { do: 'mining', isOn: true },
    { do: 'outage', isOn: true },
    { do: 'outage', isOn: false },
    { do: 'drain', millionths: 0 },
    { do: 'drip', millionths: 300_000 },
    { do: 'refill' },
    { do: 'forget' },
    { do: 'reorg', depth: 1 + dice.below(8) },
    { do: 'house' },
  ])
}

/** Ends the outage, replaces blocks, runs housekeeping, and uses all held signatures. */
async function afterwards(play: Play, dice: Dice): Promise<void> {
  const steps: Action[] = [
    { do: 'outage', isOn: false },
    { do: 'mining', isOn: true },
    { do: 'refill' },
    { do: 'reorg', depth: 1 + dice.below(8) },
    { do: 'house' },
    { do: 'drip', millionths: 300_000 },
    { do: 'house' },
    ...play.held.map((_, which): Action => {
      const using = dice.oneOf(['plain', 'crowd', 'stored', 'flooded'])
      return { do: 'use', which, using, permille: 1_000 }
    }),
    { do: 'reorg', depth: 1 + dice.below(8) },
    { do: 'wait', seconds: 65 },
    { do: 'house' },
    ...play.network.sent.map((_, which): Action => ({ do: 'front-run', which })),
    ...play.asked
      .slice(-20)
      .map((_, at): Action => ({ do: 'again', which: play.asked.length - at - 1 })),
    { do: 'house' },
  ]
  for (const step of steps) {
    if (step.do !== 'use' && step.do !== 'front-run') await play.clock.advance(1)
    await act(play, step)
    if (play.isMining) await mine(play.world.chain)
  }
}
