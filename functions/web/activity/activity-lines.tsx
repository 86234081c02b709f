/** Lines of the activity, as several pages list them. */
import { useContext } from 'hono/jsx'
import { assetOf } from '../../../shared/chains/registry.ts'
import { formatAmount } from '../../../shared/money/amount.ts'
import type { Payment } from '../../../shared/payments/payment.ts'
import { type ActivityItem, activityItem } from '../../../shared/payments/show/activity.ts'
import { payeeName, stateSentence } from '../../../shared/payments/words.ts'
import { forPeople, State, Time, TimeOfDay } from '../ui/show.tsx'
import { dayHeading, localTime, ReaderContext } from '../ui/zone.ts'
import { webAppPath } from '../visit.ts'
import type { Row } from './activity-data.ts'

/** Titles of the categories. */
export const categories: Record<ActivityItem['category'], string> = {
  transfer: 'Transfer',
  deposit: 'Deposit',
  x402: 'Purchase',
  mandate: 'Mandate',
  vault: 'Vault',
  mail: 'Mail',
  security: 'Security',
  account: 'Account',
  defi: 'Yield',
}

/** Shows the rows below a heading for each day of the reader. */
export function Days({ rows }: { rows: readonly Row[] }) {
  const reader = useContext(ReaderContext)
  const days = Map.groupBy(rows, ({ at }) => localTime(new Date(at), reader).day)
  return (
    <>
      {[...days].map(([day, ofDay]) => (
        <div class="day">
          <h3>{dayHeading(day, reader)}</h3>
          <Items rows={ofDay} isOfDay />
        </div>
      ))}
    </>
  )
}

/** Shows the rows with headline, amount, time and state. */
export function Items({
  rows,
  isOfDay = false,
}: {
  rows: readonly Row[]
  /** True below the heading of a day, where a row shows its time of day alone. */
  isOfDay?: boolean
}) {
  return (
    <ul class="items">
      {rows.map((row) => {
        const line = row.payment ? paymentLine(row, row.payment) : eventLine(row)
        const { path, headline, amount, state } = line
        const at = new Date(row.at)
        return (
          <li>
            <a href={webAppPath + path}>{headline}</a>
            {amount && <Amount {...amount} />}
            <span class="meta">
              {isOfDay ? <TimeOfDay at={at} /> : <Time at={at} />}
              <span>{categories[row.category]}</span>
              {row.agent && <span>by {row.agent === 'You' ? 'you' : row.agent}</span>}
              {state !== undefined && <State of={state} />}
            </span>
          </li>
        )
      })}
    </ul>
  )
}

type Moved = { words: string; token: string; sign: '+' | '−'; outcome: string }

function paymentLine(
  { is_approved: isApproved, label }: Row,
  payment: NonNullable<Row['payment']>,
) {
  const { token } = assetOf(payment)
  const words = forPeople(
    formatAmount(payment.settled_atomic ?? payment.amount_atomic, token.decimals),
  )
  const amount: Moved = { words, token: token.symbol, sign: '−', outcome: paymentOutcome(payment) }
  const state = standingOf(payment, isApproved)
  return {
    path: `/payment/${payment.id}`,
    headline: `To ${payeeName(payment, label)}`,
    amount,
    state,
  }
}

function eventLine(row: Row) {
  const { deposit } = row
  const { status, amount: text, token = '', summary } = activityItem(row)
  const outcome = deposit?.finality === 'reorged' ? 'not_paid' : 'paid'
  const amount: Moved | undefined =
    text === undefined ? undefined : { words: forPeople(text), token, sign: '+', outcome }
  const headline = deposit ? `From ${deposit.sender_alias ?? deposit.sender}` : summary
  return { path: `/activity/${row.id}`, headline, amount, state: status }
}

/** Shows an amount with its sign; one that did not move is struck out, one that waits is grey. */
function Amount({ words, token, sign, outcome }: Moved) {
  const text = (
    <>
      {sign}
      {words} <span class="unit">{token}</span>
    </>
  )
  const isMoving = outcome === 'paid' || outcome === 'on_its_way'
  return (
    <span class={isMoving ? 'money amount' : 'money amount quiet'}>
      {outcome === 'not_paid' ? <s>{text}</s> : text}
    </span>
  )
}

/** Returns the state of a payment as `State` tells it. */
export function standingOf(
  payment: Pick<Payment, 'state' | 'finality' | 'refused_for'>,
  isApproved = false,
) {
  if (isRefused(payment)) return 'refused'
  const told = stateSentence(payment.state)
  if (told === 'awaiting_confirmation') return isApproved ? 'approved_unsent' : told
  if (told !== 'settled') return told
  return payment.finality === 'finalized' ? 'paid_final' : 'paid'
}

/** Returns whether a payment has moved money, still can, waits, or ended without. */
export function paymentOutcome(payment: Pick<Payment, 'state' | 'refused_for'>) {
  if (isRefused(payment)) return 'not_paid'
  const told = stateSentence(payment.state)
  if (told === 'settled') return 'paid'
  if (told === 'submitted' || told === 'unknown') return 'on_its_way'
  return told === 'awaiting_confirmation' ? 'waiting' : 'not_paid'
}

/** True for a payment over a limit that nobody let pass since. */
export function isRefused({ state, refused_for: codes }: Pick<Payment, 'state' | 'refused_for'>) {
  return !!codes && (state === 'prepared' || state === 'expired')
}
