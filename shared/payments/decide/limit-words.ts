/**
 * Describes limits, and what would pass them, in the wire form and in sentences for an agent. The figures
 * are the account's own; nothing here decides anything.
 */
import type * as z from 'zod'
import type { Chain } from '../../chains/chain.ts'
import { formatUsd } from '../../money/amount.ts'
import { headroom } from '../../policy/decide.ts'
import { limitTitles, type Window } from '../../policy/facts.ts'
import type { Change } from '../../policy/suggest.ts'
import type { capsRow, relayedRows } from '../payment-with-facts.ts'

/** Returns one window with what is left of it. */
export function windowBody(window: Window) {
  return {
    limit_usd: formatUsd(window.limit),
    left_usd: formatUsd(headroom(window)),
    resets_at: window.resetsAt,
  }
}

/** Returns the caller's caps with what is left of them; nothing if it has none. */
export function capsBody({ payment, daily }: z.output<typeof capsRow>) {
  if (payment === null && daily === null) return {}
  return {
    caps: {
      max_per_payment_usd: payment === null ? null : formatUsd(payment),
      max_per_day_usd: daily && formatUsd(daily.limit),
      left_today_usd: daily && formatUsd(headroom(daily)),
      resets_at: daily && daily.resetsAt,
    },
  }
}

type Relayed = z.output<typeof relayedRows>[number]

/** Returns what relayers still send on a chain. */
export function relayedBody(relayed: Relayed, chain: Chain) {
  return {
    chain: chain.caip2,
    calls_per_day: relayed.calls_per_day,
    calls_left: relayed.left_calls,
    resets_at: relayed.resets_at,
    least_usd: formatUsd(relayed.least_usd_micros),
  }
}

/** Returns one change that would pass. */
export function changeBody(given: Change) {
  const common = { change: given.change, user_confirmed: given.userConfirmed }
  switch (given.change) {
    case 'pay_less':
      return { ...common, amount_usd: formatUsd(given.usdMicros) }
    case 'wait':
      return { ...common, until: given.until.toISOString() }
    case 'raise_limit':
      return {
        ...common,
        limit: given.limit,
        title: limitTitles[given.limit],
        limit_usd: formatUsd(given.usdMicros),
      }
    case 'confirm_with_user':
    case 'ask_owner_to_approve':
    case 'ask_owner_for_mandate':
      return common
  }
}

/** Returns the changes as one sentence that says what to do next. */
export function hintOf(changes: readonly Change[], isConfirmedByUser: boolean): string {
  if (changes.length === 0) return 'No single change lets it through: ask the owner.'
  const steps = changes.map((given) => {
    const isWord = given.change === 'confirm_with_user' || given.change === 'ask_owner_to_approve'
    const isExtra = given.userConfirmed && !isConfirmedByUser && !isWord
    return stepOf(given) + (isExtra ? ', once confirmed' : '')
  })
  return `Any one of these would pass: ${steps.join('; ')}.`
}

function stepOf(given: Change): string {
  switch (given.change) {
    case 'confirm_with_user':
      return 'confirm with the user and set user_confirmed'
    case 'ask_owner_to_approve':
      return 'have the owner approve it at confirmation.url, then set user_confirmed'
    case 'ask_owner_for_mandate':
      return 'ask the owner for a mandate for this merchant with payment-mandate-create'
    case 'pay_less':
      return `pay at most ${formatUsd(given.usdMicros)} USD now`
    case 'wait':
      return `wait until ${given.until.toISOString()} and enter this amount then`
    case 'raise_limit':
      return `ask the owner to raise “${limitTitles[given.limit]}” to ${formatUsd(given.usdMicros)} USD`
  }
}
