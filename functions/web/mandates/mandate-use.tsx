/** The used and free part of a mandate, and the payments under it. */
import { type MandateRow, mandateFacts } from '../../../shared/mandates/mandate-row.ts'
import { formatUsd } from '../../../shared/money/amount.ts'
import { merchantOf, reasonBody, stateSentence } from '../../../shared/payments/words.ts'
import { leftOf } from '../../../shared/policy/mandate.ts'
import {
  type BacktestedPayment,
  backtestMandate,
  type Verdict,
} from '../../../shared/policy/rehearsal.ts'
import { Amount } from '../approvals/payment-terms.tsx'
import {
  Address,
  Badge,
  Empty,
  Facts,
  Money,
  Pager,
  Section,
  State,
  Table,
  Time,
  usdRoundedUp,
} from '../ui/show.tsx'
import { Used } from '../ui/spent.tsx'
import { webAppPath } from '../visit.ts'
import { Cap } from './mandate-terms.tsx'
import type { OpenedMandate, Paid } from './mandates-data.ts'

/** Shows what is used and left of each of its caps. */
export function MandateUsage({ mandate }: { mandate: MandateRow }) {
  const { max_day_usd_micros: day, max_total_usd_micros: total, max_payments: most } = mandate
  const { spent_day_usd_micros, spent_total_usd_micros, payments, day_resets_at } = mandate
  const { day: dayLeft, total: totalLeft } = leftOf(mandateFacts(mandate))
  const payable = most === null ? '' : `, ${Math.max(0, most - payments)} left`
  return (
    <Section title="Used and left">
      <div class="bars">
        {day !== null && (
          <Used
            id="used-day"
            label="In the last 24 hours"
            window={{ limit: day, spent: spent_day_usd_micros, resetsAt: day_resets_at }}
          />
        )}
        {total !== null && (
          <Used
            id="used-total"
            label="In all"
            window={{ limit: total, spent: spent_total_usd_micros, resetsAt: null }}
          />
        )}
      </div>
      <Facts
        facts={[
          ['In the last 24 hours', <SpentAndLeft spent={spent_day_usd_micros} left={dayLeft} />],
          ['In all', <SpentAndLeft spent={spent_total_usd_micros} left={totalLeft} />],
          ['Payments', `${payments} made${payable}`],
        ]}
      />
    </Section>
  )
}

function SpentAndLeft({ spent, left }: { spent: bigint; left: bigint | null }) {
  return (
    <>
      <Cap usdMicros={spent} /> spent
      {left !== null && (
        <>
          , <Cap usdMicros={left} /> left
        </>
      )}
    </>
  )
}

/** Lists payments under it; `newest` and `older` are the addresses of the first and the next page. */
export function Statement({
  paid,
  newest,
  older,
}: {
  paid: readonly Paid[]
  newest: string | undefined
  older: string | undefined
}) {
  if (paid.length === 0 && newest === undefined) {
    return (
      <Section title="Payments under it">
        <Empty>Nothing was paid under it.</Empty>
      </Section>
    )
  }
  return (
    <Section title="Payments under it">
      <Table
        caption="Payments under this mandate, newest first"
        rows={paid}
        columns={[
          { label: 'When', cell: ({ payment_row }) => <Time at={payment_row.authorized_at} /> },
          { label: 'Amount', cell: ({ payment_row }) => <Amount payment={payment_row} /> },
          { label: 'To', cell: ({ payment_row }) => payeeOf(payment_row) },
          { label: 'By', cell: ({ paid_by }) => paid_by },
          {
            label: 'State',
            cell: ({ payment_row }) => <State of={stateSentence(payment_row.state)} />,
          },
          {
            label: 'More',
            cell: ({ payment_row: { id } }) => (
              <a href={`${webAppPath}/payment/${id}`}>See the payment</a>
            ),
          },
        ]}
      />
      <Pager newest={newest} older={older} />
    </Section>
  )
}

function payeeOf(payment: Paid['payment_row']) {
  return merchantOf(payment) ?? <Address value={payment.payee} />
}

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
    <Section title="What it would have covered in the last 90 days">
      {payments.length === 0 ? (
        <Empty>This account requested no payments to this merchant in the last 90 days.</Empty>
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
            Assumes that each came from a trusted device, with the price from the merchant itself.
            Refused payments were over your daily spending cap.
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
