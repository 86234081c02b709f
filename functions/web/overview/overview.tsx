/** The first page, on which the owner sees balances, spending, recent activity and what waits. */
import * as z from 'zod'
import { addressSchema } from '../../../shared/chains/hex.ts'
import { bigintText } from '../../../shared/money/row-fields.ts'
import { limitsRow } from '../../../shared/payments/payment-with-facts.ts'
import type { World } from '../../../shared/world.ts'
import { listNewest } from '../activity/activity-data.ts'
import { Items } from '../activity/activity-lines.tsx'
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { FrozenAccountNotice, WaitingRequestsNotice } from '../ui/attention.tsx'
import { LinkButton } from '../ui/form.tsx'
import { Empty, Section } from '../ui/show.tsx'
import { Spent } from '../ui/spent.tsx'
import { localTime, readerOf, startOfDay } from '../ui/zone.ts'
import { type Owner, type Routes, webAppPath } from '../visit.ts'
import { BalanceChart, daysUpTo, SpendChart } from './account-charts.tsx'
import { FirstSteps, stepsRow } from './first-steps.tsx'
import { Holdings, readHoldings } from './holdings.tsx'

const daysShown = 30
const itemsShown = 6

const overviewRow = z.object({
  overview: z.object({
    created_at: z.string(),
    steps: stepsRow,
    limits: limitsRow,
    address: addressSchema,
    reserved_usd_micros: bigintText,
    spent_by_day: z.array(z.object({ nth: z.int(), usd_micros: bigintText })),
    moved_by_day: z.array(
      z.object({
        nth: z.int(),
        chain: z.int(),
        token: z.string(),
        atomic: z
          .string()
          .regex(/^-?[0-9]+$/)
          .transform(BigInt),
      }),
    ),
  }),
})

/** Routes that show the overview. */
export const routes: Routes = (app) => {
  app.get('/', async (c) => {
    const world = c.get('world')
    const { config } = world
    const me = await requireOwner(c)
    const reader = readerOf(c)
    const days = daysUpTo(reader, daysShown)
    const bounds = days.map((day) => startOfDay(day, reader).toISOString())
    const { facts, recent, chains } = await readOverview(world, me, bounds)
    const onDay = <Part extends { nth: number }>({ nth, ...part }: Part) => ({
      ...part,
      day: days[nth - 1] ?? '',
    })
    return sendPage(
      c,
      <Page c={c} title="Overview" owner={me} action={!me.account.isFrozen && <FreezeSwitch />}>
        {me.account.isFrozen && <FrozenAccountNotice />}
        <WaitingRequestsNotice kind="payments" count={me.waiting.payments} />
        <WaitingRequestsNotice kind="mandates" count={me.waiting.mandates} />
        <FirstSteps c={c} steps={facts.steps} />
        <div class="columns">
          <Holdings chains={chains} reservedUsdMicros={facts.reserved_usd_micros} config={config} />
          <Spent limits={facts.limits} />
        </div>
        <div class="columns">
          <SpendChart
            days={days}
            spent={facts.spent_by_day.map(onDay)}
            capUsdMicros={facts.limits.daily_spending_cap.limit}
          />
          <BalanceChart
            days={days}
            openedOn={localTime(new Date(facts.created_at), reader).day}
            chains={chains}
            moved={facts.moved_by_day.map(onDay)}
            config={config}
          />
        </div>
        <Section
          title="Recent activity"
          action={recent.length > 0 && <a href={`${webAppPath}/activity`}>All activity</a>}
        >
          {recent.length > 0 ? <Items rows={recent} /> : <Empty>{nothingYet}</Empty>}
        </Section>
      </Page>,
    )
  })
}

/** Renders the link to freeze the account, in plain sight for an emergency. */
function FreezeSwitch() {
  return (
    <LinkButton to="/freeze" kind="danger">
      Freeze the account
    </LinkButton>
  )
}

const nothingYet =
  'Nothing has happened yet. Payments, deposits and changes to the account will be listed here.'

async function readOverview(world: World, me: Owner, bounds: string[]) {
  const [row, rows] = await Promise.all([
    me.db.one('owner_overview', { bounds }, overviewRow),
    listNewest(me, itemsShown),
  ])
  if (!row) throw new Error('an admitted caller has no account')
  const facts = row.overview
  return { facts, recent: rows, chains: await readHoldings(world, facts.address) }
}
