/** The state of a payment or deposit in a word. */
import { Badge } from './show.tsx'

const states: Record<
  string,
  readonly [kind: 'plain' | 'good' | 'warning' | 'danger', word: string]
> = {
  awaiting_confirmation: ['warning', 'Waiting for approval'],
  submitted: ['plain', 'On its way'],
  unknown: ['warning', 'Not certain yet'],
  settled: ['good', 'Settled'],
  released: ['plain', 'Not sent'],
  declined: ['plain', 'Declined'],
  expired: ['plain', 'Expired'],
  included: ['good', 'Arrived'],
  safe: ['good', 'Arrived'],
  finalized: ['good', 'Arrived, final'],
  reverted: ['warning', 'Did not pass, may be sent again'],
  reorged: ['danger', 'Taken back'],
}

/** Shows the state. */
export function State({ of }: { of: string }) {
  const [kind, word] = states[of] ?? ['plain', of]
  return <Badge kind={kind}>{word}</Badge>
}
