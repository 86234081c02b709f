/** The page of all activity, one row a payment, which the owner searches, filters and exports. */
import { activityItem, activityRow } from '../../../shared/payments/show/activity.ts'
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { Button, Field, Select } from '../ui/form.tsx'
import { Empty, Notice, Pager, Section, siteName } from '../ui/show.tsx'
import { readerOf } from '../ui/zone.ts'
import { type Owner, type PageContext, type Routes, webAppPath } from '../visit.ts'
import { csvBytes, exportedMax, paymentsCsv } from './activity-csv.ts'
import { type ListedRow, listActivity, listAgents } from './activity-data.ts'
import { categories, Days } from './activity-lines.tsx'
import {
  type Asked,
  activityAddress,
  askedOf,
  directions,
  isNarrowed,
  outcomes,
} from './activity-query.ts'

const pageSize = 25
const exportStep = 500

/** Routes that show the activity and export it. */
export const routes: Routes = (app) => {
  app.get('/activity', showActivity)
  app.get('/activity.csv', exportEvents)
  app.get('/payments.csv', exportPayments)
}

async function showActivity(c: PageContext) {
  const me = await requireOwner(c)
  const query = askedOf(c)
  const meant = { reader: readerOf(c), world: c.get('world') }
  const [rows, agents] = await Promise.all([
    listActivity(me, query, { ...meant, page: pageSize + 1 }),
    query.hidden ? [] : listAgents(me),
  ])
  const shown = rows.slice(0, pageSize)
  const last = rows.length > pageSize ? shown.at(-1) : undefined
  return sendPage(
    c,
    <Page c={c} {...(query.hidden ? hiddenHead : head)} owner={me}>
      {query.hidden ? <HiddenNotice /> : <Filters query={query} agents={agents} />}
      <Section
        title={isNarrowed(query) ? 'Results' : 'All'}
        action={shown.length > 0 && <Exports query={query} />}
      >
        {shown.length > 0 ? <Days rows={shown} /> : <NothingFound query={query} />}
      </Section>
      <Pager
        newest={query.before && activityAddress('/activity', { ...query, before: undefined })}
        older={last && activityAddress('/activity', { ...query, before: placeOf(last) })}
      />
      {!query.hidden && (
        <p class="small">
          <a href={`${webAppPath}/activity?hidden=yes`}>Show hidden deposits</a>
        </p>
      )}
    </Page>,
  )
}

/** Returns where the page after this row begins. */
function placeOf({ at, id }: ListedRow): string {
  return `${at}_${id}`
}

const head = {
  title: 'Activity',
  lead: 'Payments, deposits and everything else that happened, newest first.',
}
const hiddenHead = {
  title: 'Hidden deposits',
  lead: 'Deposits that look like bait for a wrong payment. They are kept out of the activity.',
  back: { to: '/activity', label: 'Activity' },
}

function HiddenNotice() {
  return (
    <Notice kind="warning" title="Never copy an address from here">
      Strangers send tiny or empty transfers from addresses that resemble those of people you pay,
      hoping that you copy one.
    </Notice>
  )
}

function NothingFound({ query }: { query: Asked }) {
  if (!isNarrowed(query) && query.before === undefined) {
    return <Empty>{query.hidden ? 'Nothing is hidden.' : 'Nothing has happened yet.'}</Empty>
  }
  return (
    <Empty>
      Nothing matches. Use fewer filters or other words, or{' '}
      <a href={`${webAppPath}/activity`}>show everything</a>.
    </Empty>
  )
}

function Exports({ query }: { query: Asked }) {
  const filters = { ...query, before: undefined }
  const { q, category, hidden } = query
  return (
    <span class="links">
      <a href={activityAddress('/payments.csv', filters)}>Export payments</a>
      <a href={activityAddress('/activity.csv', { q, category, hidden })}>Export all events</a>
    </span>
  )
}

function Filters({ query, agents }: { query: Asked; agents: { id: string; name: string }[] }) {
  const { agent, from, to, state, direction, min, max, payee } = query
  const isOpen = [agent, from, to, state, direction, min, max].some((value) => value !== undefined)
  return (
    <form method="get" action={`${webAppPath}/activity`} role="search">
      {payee !== undefined && (
        <p class="small">
          <input type="hidden" name="payee" value={payee} />
          Only payments to <code class="long">{siteName(payee)}</code>.{' '}
          <a href={activityAddress('/activity', { ...query, payee: undefined, before: undefined })}>
            Show all payees
          </a>
        </p>
      )}
      <div class="row">
        <Field
          name="q"
          label="Search"
          type="search"
          value={query.q}
          maxlength={100}
          placeholder="Name, amount, note, address"
        />
        <Menu name="category" label="Category" titles={categories} chosen={query.category} />
        <Button kind="plain">Show</Button>
      </div>
      <details open={isOpen}>
        <summary>More filters</summary>
        <div class="row">
          <Menu
            name="agent"
            label="Agent"
            titles={Object.fromEntries(agents.map(({ id, name }) => [id, name]))}
            chosen={agent}
          />
          <Menu name="state" label="State" titles={outcomes} chosen={state} />
          <Menu name="direction" label="Direction" titles={directions} chosen={direction} />
          <Field name="from" label="From" type="date" value={from ?? ''} />
          <Field name="to" label="To" type="date" value={to ?? ''} />
          <Field name="min" label="At least" inputmode="decimal" unit="USD" value={min ?? ''} />
          <Field name="max" label="At most" inputmode="decimal" unit="USD" value={max ?? ''} />
          <Button kind="plain">Apply filters</Button>
          <a href={`${webAppPath}/activity`}>Clear all</a>
        </div>
      </details>
    </form>
  )
}

function Menu({
  titles,
  chosen = '',
  ...field
}: {
  name: string
  label: string
  titles: Readonly<Record<string, string>>
  chosen: string | undefined
}) {
  const choices = Object.entries(titles).map(([value, label]) => ({ value, label }))
  return <Select {...field} choices={[{ value: '', label: 'All' }, ...choices]} chosen={chosen} />
}

async function exportPayments(c: PageContext) {
  const me = await requireOwner(c)
  const query = askedOf(c)
  const [world, reader] = [c.get('world'), readerOf(c)]
  const rows: ListedRow[] = []
  for (let { before } = query; rows.length <= exportedMax; ) {
    const meant = { reader, world, page: exportStep, isMoney: true }
    const read = await listActivity(me, { ...query, before }, meant)
    rows.push(...read)
    const last = read.at(-1)
    if (read.length < exportStep || !last) break
    before = placeOf(last)
  }
  return sendCsv(c, me, 'payments', paymentsCsv(rows, world.config))
}

/** Sends the events of a search and a category; each step of a payment is one. */
async function exportEvents(c: PageContext) {
  const me = await requireOwner(c)
  const query = askedOf(c)
  const items: ReturnType<typeof activityItem>[] = []
  for (let before: string | undefined; items.length <= exportedMax; ) {
    const rows = await findItems(me, query, before)
    items.push(...rows.map(activityItem))
    if (rows.length < exportStep) break
    before = rows.at(-1)?.id
  }
  return sendCsv(c, me, 'activity', csvBytes(items))
}

function findItems({ db }: Owner, { q, category, hidden }: Asked, before: string | undefined) {
  const question = {
    page: exportStep,
    hidden: hidden === 'yes',
    ...(before === undefined ? {} : { before: Number(before) }),
    ...(category === undefined ? {} : { only_category: category }),
  }
  return q === ''
    ? db.many('list_activity', question, activityRow)
    : db.many('owner_search_activity', { ...question, words: q }, activityRow)
}

function sendCsv(c: PageContext, { account }: Owner, name: string, bytes: Uint8Array<ArrayBuffer>) {
  const day = c.get('world').now().toISOString().slice(0, 10)
  return c.body(bytes, 200, {
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': `attachment; filename="${name}-${account.alias}-${day}.csv"`,
  })
}
