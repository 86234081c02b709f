/** The page of all activity, which the owner searches, filters and exports as CSV. */
import * as z from 'zod'
import { activityCategory } from '../../../shared/contract/fields.ts'
import {
  type ActivityItem,
  activityItem,
  activityRow,
} from '../../../shared/payments/show/activity.ts'
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { Button, Field, Select } from '../ui/form.tsx'
import { Empty, Notice, Pager, Section } from '../ui/show.tsx'
import { type Owner, type PageContext, type Routes, webAppPath } from '../visit.ts'
import { csvBytes } from './activity-csv.ts'
import { categories, Items } from './items.tsx'

const pageSize = 25
/** Number of items in one file, which a spreadsheet opens without trouble. */
const exportedMax = 5_000
const exportStep = 500

// A malformed query is not an error, because people edit addresses: its parts are ignored.
const asked = z.object({
  q: z
    .string()
    .max(100)
    .transform((words) => words.replaceAll('\0', '').trim())
    .catch(''),
  category: activityCategory.optional().catch(undefined),
  hidden: z.literal('yes').optional().catch(undefined),
  before: z
    .string()
    .regex(/^[0-9]{1,15}$/)
    .optional()
    .catch(undefined),
})
type Asked = z.output<typeof asked>

/** Routes that show the activity and export it. */
export const routes: Routes = (app) => {
  app.get('/activity', showActivity)
  app.get('/activity.csv', exportActivity)
}

async function showActivity(c: PageContext) {
  const me = await requireOwner(c)
  const query = asked.parse(c.req.query())
  const rows = await find(me, query, pageSize + 1)
  const shown = rows.slice(0, pageSize)
  const last = rows.length > pageSize ? shown.at(-1) : undefined
  const isNarrowed = query.q !== '' || query.category !== undefined
  return sendPage(
    c,
    <Page c={c} {...(query.hidden ? hiddenHead : head)} owner={me}>
      {query.hidden ? <HiddenNotice /> : <Narrow query={query} />}
      <Section
        title={isNarrowed ? 'Found' : 'All'}
        action={shown.length > 0 && <a href={addressOf('/activity.csv', query)}>Export as CSV</a>}
      >
        {shown.length > 0 ? (
          <Items rows={shown} />
        ) : (
          <Empty>
            {isNarrowed || query.before !== undefined
              ? 'Nothing matches. Try other words, or all categories.'
              : 'Nothing yet.'}
          </Empty>
        )}
      </Section>
      <Pager
        newest={query.before && addressOf('/activity', { ...query, before: undefined })}
        older={last && addressOf('/activity', { ...query, before: last.id })}
      />
      {!query.hidden && (
        <p class="small">
          <a href={`${webAppPath}/activity?hidden=yes`}>Show hidden deposits</a>
        </p>
      )}
    </Page>,
  )
}

const head = {
  title: 'Activity',
  lead: 'Everything that happened in the account, newest first.',
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
      in the hope that one is copied.
    </Notice>
  )
}

function Narrow({ query }: { query: Asked }) {
  const choices = Object.entries(categories).map(([value, label]) => ({ value, label }))
  return (
    <form method="get" action={`${webAppPath}/activity`} class="row" role="search">
      <Field name="q" label="Search" type="search" value={query.q} maxlength={100} />
      <Select
        name="category"
        label="Category"
        choices={[{ value: '', label: 'All' }, ...choices]}
        chosen={query.category ?? ''}
      />
      <Button kind="plain">Show</Button>
    </form>
  )
}

async function exportActivity(c: PageContext) {
  const me = await requireOwner(c)
  const query = asked.parse(c.req.query())
  const items: ActivityItem[] = []
  for (let before = query.before; items.length < exportedMax; ) {
    const rows = await find(me, { ...query, before }, exportStep)
    items.push(...rows.map(activityItem))
    if (rows.length < exportStep) break
    before = rows.at(-1)?.id
  }
  const day = c.get('world').now().toISOString().slice(0, 10)
  return c.body(csvBytes(items), 200, {
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': `attachment; filename="activity-${me.account.alias}-${day}.csv"`,
  })
}

function find({ db }: Owner, { q, category, hidden, before }: Asked, page: number) {
  const question = {
    page,
    hidden: hidden === 'yes',
    ...(before === undefined ? {} : { before: Number(before) }),
    ...(category === undefined ? {} : { only_category: category }),
  }
  return q === ''
    ? db.many('list_activity', question, activityRow)
    : db.many('owner_search_activity', { ...question, words: q }, activityRow)
}

function addressOf(path: string, query: Partial<Asked>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value)
  return `${webAppPath}${path}${search.size === 0 ? '' : `?${search.toString()}`}`
}
