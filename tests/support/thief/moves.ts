/** Prepares a thief's account for a situation, and performs each of its moves. */
import * as z from 'zod'
import type { Action } from '../play/actions.ts'
import { microsOf } from '../play/agent-acts.ts'
import { submit } from '../play/blocks.ts'
import { act } from '../play/perform.ts'
import type { Play } from '../play/play.ts'
import type { Amount, Move, Situation } from './life.ts'

const usd = 1_000_000

/** Brings the account into the situation, in two steps a day apart. */
export async function prepareAccount(
  play: Play,
  situation: Situation,
  phase: 'long before' | 'just before',
): Promise<void> {
  if (phase === 'just before') return prepareLast(play, situation)
  const { world, thief } = play
  if (situation.isKnown) for (const payee of play.payees) await world.acquaint(thief, payee)
  if (situation.paidBefore > 0) {
    await act(play, { do: 'transfer', micros: situation.paidBefore * usd, to: 0, word: true })
  }
  await world.db.sql`update private.accounts set
    automatic_daily_limit_usd_micros = ${situation.automatic * usd},
    asserted_daily_limit_usd_micros = ${situation.asserted * usd},
    asserted_new_recipient_limit_usd_micros = ${situation.newRecipient * usd},
    daily_spending_cap_usd_micros = ${situation.total * usd} where id = ${thief.id}`
}

async function prepareLast(play: Play, { approved, mandate, held }: Situation): Promise<void> {
  const steps: Action[] = []
  if (mandate > 0) steps.push({ do: 'ask mandate', micros: mandate * usd })
  play.manner = 'keep'
  if (held > 0) {
    steps.push({ do: 'buy', rail: 'eip3009', micros: held * usd, to: 0, crowd: false })
  }
  if (approved > 0) {
    steps.push({ do: 'transfer', micros: approved * usd, to: 0, word: true })
    steps.push({ do: 'approve', which: 0 })
  }
  for (const step of steps) await act(play, step)
}

/** Performs one move of a strategy. */
export async function payWith(play: Play, move: Move): Promise<void> {
  if (move.do === 'pay approved') return payApproved(play)
  if (move.do === 'use all') return useAll(play)
  const micros = await microsFor(play, move.amount)
  if (micros < 1) return
  if (move.do === 'transfer') return act(play, { do: 'transfer', micros, to: 0, word: move.word })
  return act(play, { do: 'buy', rail: move.rail, micros, to: 0, crowd: false })
}

async function payApproved(play: Play): Promise<void> {
  const which = play.asked.findIndex(({ status }) => status === 'approved')
  if (which >= 0) await act(play, { do: 'again', which })
}

/** Uses each payment that the merchant holds once; one that is used already reverts. */
async function useAll(play: Play): Promise<void> {
  for (const held of play.held.splice(0)) {
    await submit(play.world.chain, held.step(held.amount), 300_000)
  }
}

const window = z.object({ left_usd: z.string() })
const identity = z.object({
  limits: z.object({ automatic_daily: window, asserted_daily: window, daily_spending_cap: window }),
})

async function microsFor(play: Play, amount: Amount): Promise<number> {
  if (typeof amount === 'number') return amount * usd
  const { limits } = identity.parse((await play.product.get(play.reader, '/get-identity')).body)
  const left = {
    automatic: limits.automatic_daily,
    asserted: limits.asserted_daily,
    total: limits.daily_spending_cap,
  }[amount]
  return Number(microsOf(left.left_usd))
}
