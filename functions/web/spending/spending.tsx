/** The page of spending: what was paid in a period, by payee, by agent, by week and by month. */
import * as z from 'zod'
import { bigintText } from '../../../shared/money/row-fields.ts'
import { visibleLine } from '../../../shared/text/untrusted.ts'
import { type Asked, activityAddress } from '../activity/activity-query.ts'
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { BarChart } from '../ui/charts.tsx'
import { Button, Field } from '../ui/form.tsx'
import { Empty, forUsd, Section, siteName, Table } from '../ui/show.tsx'
import { type Reader, readerOf } from '../ui/zone.ts'
import { type Routes, webAppPath } from '../visit.ts'
import {
  boundsOf,
  daysIn,
  type Period,
  periodOf,
  periods,
  type Span,
  spanLabel,
  spanOf,
  spans,
} from './period.ts'

const sum = { usd_micros: bigintText, payments: z.int() }
const spendingRow = z.object({
  spending: z.object({
    ...sum,
    payees: z.array(z.object({ payee: z.string(), alias: z.string().nullable(), ...sum })),
    agents: z.array(z.object({ id: z.uuid(), name: z.string().transform(visibleLine), ...sum })),
    /** Days on which something was paid, numbered from 1. */
    parts: z.array(z.object({ nth: z.int(), ...sum })),
  }),
})
type Spending = z.output<typeof spendingRow>['spending']
type Sum = { usd_micros: bigint; payments: number }

/** Line of a table: a name, its sum, and the payments behind it. */
type Line = Sum & { name: string; filter: Partial<Asked> }

/** Routes that show the spending. */
export const routes: Routes = (app) => {
  app.get('/spending', async (c) => {
    const me = await requireOwner(c)
    const reader = readerOf(c)
    const period = periodOf(c.req.query(), reader)
    const days = daysIn(period)
    const bounds = boundsOf(days, reader)
    const row = await me.db.one('owner_read_spending', { bounds }, spendingRow)
    if (!row) throw new Error('an admitted caller has no account')
    return sendPage(
      c,
      <Page
        c={c}
        title="Spending"
        owner={me}
        lead="What was paid from this account, in US dollars."
      >
        <ChoosePeriod period={period} />
        <Sums spending={row.spending} period={period} days={days} reader={reader} />
      </Page>,
    )
  })
}

function ChoosePeriod({ period }: { period: Period }) {
  return (
    <section>
      <nav class="choices" aria-label="Period">
        <ul>
          {Object.entries(periods).map(([name, title]) => (
            <li>
              <a
                href={`${webAppPath}/spending?period=${name}`}
                aria-current={name === period.name ? 'true' : undefined}
              >
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form method="get" action={`${webAppPath}/spending`} class="row">
        <Field name="from" label="From" type="date" value={period.from} />
        <Field name="to" label="To" type="date" value={period.to} />
        <Button kind="plain">Show</Button>
      </form>
    </section>
  )
}

type SumsProps = { spending: Spending; period: Period; days: readonly string[]; reader: Reader }

function Sums({ spending, period, days, reader }: SumsProps) {
  if (spending.payments === 0) {
    return (
      <Section title="Total">
        <Empty>
          Nothing was paid in this period. Choose another one, or see{' '}
          <a href={`${webAppPath}/activity`}>all activity</a>.
        </Empty>
      </Section>
    )
  }
  const paid = { state: 'paid', direction: 'out', from: period.from, to: period.to } as const
  const payees = spending.payees.map(({ payee, alias, ...rest }) => {
    return { ...rest, name: alias ?? siteName(payee), filter: { ...paid, payee } }
  })
  const agents = spending.agents.map(({ id, ...rest }) => ({
    ...rest,
    filter: { ...paid, agent: id },
  }))
  const linesBy = (span: Span) => sumsBy(spending, { period, days, reader, span })
  return (
    <>
      <Total spending={spending} all={paid} />
      <Drawn lines={linesBy(spanOf(days))} span={spanOf(days)} />
      <Lines title="By merchant or recipient" label="Paid to" lines={payees} all={spending} />
      <Lines title="By agent" label="Agent" lines={agents} all={spending} />
      <div class="columns">
        <Lines title="By week" label="Week from" lines={linesBy('week').filter(isPaid)} />
        <Lines title="By month" label="Month" lines={linesBy('month').filter(isPaid)} />
      </div>
    </>
  )
}

function isPaid({ payments }: Sum): boolean {
  return payments > 0
}

function Total({ spending, all }: { spending: Spending; all: Partial<Asked> }) {
  const { usd_micros: usdMicros, payments } = spending
  return (
    <Section
      title="Total"
      action={<a href={activityAddress('/payments.csv', all)}>Export payments</a>}
    >
      <p>
        <span class="figure money">
          {forUsd(usdMicros)} <span class="unit">USD</span>
        </span>
      </p>
      <p class="small">
        <a href={activityAddress('/activity', all)}>
          {payments === 1 ? 'One payment' : `${payments} payments`}
        </a>
      </p>
    </Section>
  )
}

/** Sums the days of each part of the period, parts without a payment included. */
function sumsBy(
  { parts }: Spending,
  { period, days, reader, span }: Omit<SumsProps, 'spending'> & { span: Span },
): Line[] {
  const byDay = new Map(parts.map(({ nth, ...part }) => [days[nth - 1], part]))
  return [...Map.groupBy(days, spans[span])].map(([start, ofPart]) => {
    const sums = ofPart.flatMap((day) => byDay.get(day) ?? [])
    const [from = period.from, to = period.to] = [ofPart[0], ofPart.at(-1)]
    return {
      name: spanLabel(span, start, reader),
      usd_micros: sums.reduce((total, { usd_micros }) => total + usd_micros, 0n),
      payments: sums.reduce((total, { payments }) => total + payments, 0),
      filter: { state: 'paid', direction: 'out', from, to },
    }
  })
}

function Drawn({ lines, span }: { lines: readonly Line[]; span: Span }) {
  const highest = lines.reduce((most, line) => (line.usd_micros > most.usd_micros ? line : most))
  return (
    <Section title={`Per ${span}`}>
      <BarChart
        title={`Spending per ${span} in USD`}
        says={`The most in one ${span} is ${forUsd(highest.usd_micros)} USD (${highest.name}).`}
        unit="USD"
        part={span === 'week' ? 'Week from' : span === 'day' ? 'Day' : 'Month'}
        points={lines.map(({ name, usd_micros: value }) => {
          return { label: name, value, text: forUsd(value) }
        })}
      />
    </Section>
  )
}

function Lines({
  title,
  label,
  lines,
  all,
}: {
  title: string
  label: string
  lines: readonly Line[]
  /** Sum of everything, of which each line shows its share. */
  all?: Sum
}) {
  const rest = all && all.payments - lines.reduce((total, { payments }) => total + payments, 0)
  return (
    <Section title={title}>
      <Table
        caption={title}
        rows={lines}
        columns={[
          {
            label,
            cell: ({ name, filter }) => (
              <a class="long" href={activityAddress('/activity', filter)}>
                {name}
              </a>
            ),
          },
          { label: 'Payments', isNumber: true, cell: ({ payments }) => payments },
          { label: 'USD', isNumber: true, cell: ({ usd_micros }) => forUsd(usd_micros) },
          ...(all === undefined
            ? []
            : [{ label: 'Share', isNumber: true, cell: (line: Line) => shareOf(line, all) }]),
        ]}
      />
      {rest !== undefined && rest > 0 && (
        <p class="quiet small">Only the top {lines.length} are listed.</p>
      )}
    </Section>
  )
}

function shareOf({ usd_micros: part }: Sum, { usd_micros: all }: Sum): string {
  const percents = all === 0n ? 0 : Number((part * 1000n) / all) / 10
  return `${percents.toFixed(1)} %`
}
