/** The steps of a payment, in the order of time. */
import { stateSentence } from '../../../shared/payments/words.ts'
import { Time } from '../ui/show.tsx'
import { isRefused } from './activity-lines.tsx'
import type { FoundPayment } from './payment-data.ts'

type Step = { at: string; words: string }

/** Shows the steps, each with its time. */
export function Steps({ found }: { found: FoundPayment }) {
  return (
    <ol class="steps">
      {stepsOf(found).map(({ at, words }) => (
        <li>
          <span>{words}</span> <Time at={at} />
        </li>
      ))}
    </ol>
  )
}

function stepsOf(found: FoundPayment): Step[] {
  const { payment_row: payment, agent, steps, authorized_at, settled_at, final_at } = found
  const { block_number: block } = payment
  const noted = steps.flatMap(({ type, at }) => {
    const words = notedWords(type, found)
    return words === undefined ? [] : [{ at, words }]
  })
  const known: [string | null, string][] = [
    [authorized_at, 'Sent'],
    [settled_at, block === null ? 'In a block' : `In block ${block}`],
    [final_at, 'Final: the network cannot reverse it'],
    [endedAt(found), endings[payment.state] ?? 'Ended'],
    [isRefused(payment) ? found.latest_step_at : null, 'Refused'],
  ]
  const all = [
    { at: payment.created_at, words: `Requested by ${agent}` },
    ...noted,
    ...known.flatMap(([at, words]) => (at === null ? [] : [{ at, words }])),
  ]
  // Steps of one instant stand in the order in which they follow each other.
  return all.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
}

function notedWords(type: string, { payment_row: payment, approved_with }: FoundPayment) {
  if (type === 'confirmation_requested') {
    const isAgents = payment.asked_level === 'agent_asserted'
    return isAgents ? 'Needed confirmation by the agent' : 'Needed your approval'
  }
  if (type === 'confirmation_approved') {
    return approved_with === 'user_passkey' ? 'Approved by you with a passkey' : 'Approved by you'
  }
  if (type === 'confirmation_declined') return 'Declined by you'
  return type.endsWith('_reorged') ? 'Reversed by the network' : undefined
}

const endings: Partial<Record<string, string>> = {
  expired: 'Expired',
  released: 'Ended without a payment',
}

/** Returns when it ended without a payment; a decline is noted in the feed. */
function endedAt({ payment_row: payment, latest_step_at }: FoundPayment): string | null {
  const isOver = ['expired', 'released'].includes(stateSentence(payment.state))
  return isOver && !isRefused(payment) ? latest_step_at : null
}
