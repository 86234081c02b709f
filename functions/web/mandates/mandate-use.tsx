/** The used and free part of a mandate, and the payments under it. */
import { type MandateRow, mandateFacts } from '../../../shared/mandates/mandate-row.ts'
import { merchantOf, statusOf } from '../../../shared/payments/words.ts'
import { leftOf } from '../../../shared/policy/mandate.ts'
import { Amount } from '../approvals/payment-terms.tsx'
import { Address, Empty, Facts, Pager, Section, Table, Time } from '../ui/show.tsx'
import { Used } from '../ui/spent.tsx'
import { State } from '../ui/state.tsx'
import { webAppPath } from '../visit.ts'
import { Cap } from './mandate-terms.tsx'
import type { Paid } from './mandates-data.ts'

/** Shows what is used and left of each of its caps. */
export function MandateUsage({ mandate }: { mandate: MandateRow }) {
  const { max_day_usd_micros: day, max_total_usd_micros: total, max_payments: most } = mandate
  const { spent_day_usd_micros, spent_total_usd_micros, payments, day_resets_at } = mandate
  const { day: dayLeft, total: totalLeft } = leftOf(mandateFacts(mandate))
  const payable = most === null ? '' : `, ${Math.max(0, most - payments)} left`
  return (
    <Section title="What is used and left">
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
          { label: 'State', cell: ({ payment_row }) => <State of={statusOf(payment_row.state)} /> },
          {
            label: 'More',
            cell: ({ payment_row: { id } }) => (
              <a href={`${webAppPath}/activity?q=${id}`}>In the activity</a>
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
