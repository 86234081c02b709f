/** A backtest: what a mandate would have done with the payments of the last 90 days. */

import { mandateFacts } from '../../../shared/mandates/mandate-row.ts'
import { formatUsd } from '../../../shared/money/amount.ts'
import { reasonBody } from '../../../shared/payments/words.ts'
import {
  type BacktestedPayment,
  backtestMandate,
  type Verdict,
} from '../../../shared/policy/rehearsal.ts'
import { Badge, Empty, Money, Section, Table, Time } from '../ui/show.tsx'
import { usdRoundedUp } from '../ui/usd.ts'
import type { OpenedMandate } from './mandates-data.ts'

const listedMax = 20

const verdicts: Record<Verdict, readonly ['good' | 'warning' | 'danger', string]> = {
  allowed: ['good', 'Paid without asking'],
  asked: ['warning', 'Asked about'],
  refused: ['danger', 'Refused'],
}

/** Shows the sums by outcome and the latest payments. */
export function MandateBacktest({ opened, now }: { opened: OpenedMandate; now: Date }) {
  const { mandate_row, past, daily_spending_cap_usd_micros: cap } = opened
  const rehearsal = backtestMandate(mandateFacts(mandate_row), past, cap, now)
  const { payments } = rehearsal
  const latest = payments.toReversed().slice(0, listedMax)
  const sums = (['allowed', 'asked', 'refused'] as const).map((verdict) => ({
    verdict,
    ...rehearsal[verdict],
  }))
  return (
    <Section title="As if it had been there for 90 days">
      {payments.length === 0 ? (
        <Empty>This account asked nothing of this merchant in the last 90 days.</Empty>
      ) : (
        <>
          <Table
            caption="Payments of the last 90 days under this mandate, in sum"
            rows={sums}
            columns={[
              { label: 'Outcome', cell: ({ verdict }) => <VerdictBadge of={verdict} /> },
              { label: 'Payments', cell: (sum) => String(sum.payments), isNumber: true },
              {
                label: 'In all',
                cell: ({ usdMicros }) => <Money amount={usdRoundedUp(usdMicros)} unit="USD" />,
                isNumber: true,
              },
            ]}
          />
          <p class="hint">
            As if each came from a known device, with the price from the merchant itself. Refused is
            what was over your limit for everything together.
          </p>
          <details>
            <summary>
              {latest.length < payments.length ? `The latest ${latest.length}` : 'Each of them'}
            </summary>
            <Latest payments={latest} />
          </details>
        </>
      )}
    </Section>
  )
}

function VerdictBadge({ of }: { of: Verdict }) {
  const [kind, word] = verdicts[of]
  return <Badge kind={kind}>{word}</Badge>
}

function Latest({ payments }: { payments: readonly BacktestedPayment[] }) {
  return (
    <Table
      caption="The latest of these payments"
      rows={payments}
      columns={[
        { label: 'When', cell: ({ payment }) => <Time at={payment.at} /> },
        {
          label: 'Amount',
          cell: ({ payment }) => <Money amount={formatUsd(payment.amountUsdMicros)} unit="USD" />,
          isNumber: true,
        },
        { label: 'Outcome', cell: ({ verdict }) => <VerdictBadge of={verdict} /> },
        {
          label: 'Because',
          cell: ({ reasons }) => reasons.map((reason) => reasonBody(reason).message).join(' '),
        },
      ]}
    />
  )
}
