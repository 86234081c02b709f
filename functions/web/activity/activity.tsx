/** The page of all activity, which the owner searches, filters and exports as CSV. */
import * as z from 'zod'
import { activityCategory } from '../../../shared/contract/fields.ts'
import {
  type ActivityItem,
  activityItem,
  activityRow,
} from '../../../shared/payments/show/activity.ts'
import { merchantOf } from '../../../shared/payments/words.ts'
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { Button, Field, Select } from '../ui/form.tsx'
import { Empty, forPeople, Notice, Pager, Section, State, Time } from '../ui/show.tsx'
import { type Owner, type PageContext, type Routes, webAppPath } from '../visit.ts'

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
  const rows = await findItems(me, query, pageSize + 1)
  const shown = rows.slice(0, pageSize)
  const last = rows.length > pageSize ? shown.at(-1) : undefined
  const isNarrowed = query.q !== '' || query.category !== undefined
  return sendPage(
    c,
    <Page c={c} {...(query.hidden ? hiddenHead : head)} owner={me}>
      {query.hidden ? <HiddenNotice /> : <Narrow query={query} />}
      <Section
        title={isNarrowed ? 'Found' : 'All'}
        action={
          shown.length > 0 && <a href={activityAddress('/activity.csv', query)}>Export as CSV</a>
        }
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
        newest={query.before && activityAddress('/activity', { ...query, before: undefined })}
        older={last && activityAddress('/activity', { ...query, before: last.id })}
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
    const rows = await findItems(me, { ...query, before }, exportStep)
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

function findItems({ db }: Owner, { q, category, hidden, before }: Asked, page: number) {
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

function activityAddress(path: string, query: Partial<Asked>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value)
  return `${webAppPath}${path}${search.size === 0 ? '' : `?${search.toString()}`}`
}

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

type Row = z.output<typeof activityRow>

/** True if the item shows its state. A request that was sent later shows it at the item of the sending. */
function showsState({ type, status }: ActivityItem): boolean {
  return status !== undefined && (!(type in stepsBefore) || closedUnsent.has(status))
}

const closedUnsent = new Set(['awaiting_confirmation', 'declined', 'expired'])

/** Shows the items with headline, amount, time and state. */
export function Items({ rows }: { rows: readonly Row[] }) {
  return (
    <ul class="items">
      {rows.map((row) => {
        const item = activityItem(row)
        return (
          <li>
            <a href={`${webAppPath}/activity/${row.id}`}>{headlineOf(row, item)}</a>
            <Amount item={item} />
            <span class="meta">
              <Time at={item.at} />
              <span>{categories[row.category]}</span>
              {showsState(item) && <State of={item.status ?? ''} />}
            </span>
          </li>
        )
      })}
    </ul>
  )
}

/** Returns whom the item is about. An address without a name is whole: a part is easily imitated. */
function headlineOf({ type, payment, deposit }: Row, item: ActivityItem): string {
  if (deposit) return `From ${deposit.sender_alias ?? deposit.sender}`
  if (!payment) return item.summary
  const payee = merchantOf(payment) ?? payment.payee_alias ?? payment.payee
  return `${stepsBefore[type] ?? 'To'} ${payee}`
}

/** Headlines of items that are not the sending itself; only the sending shows its amount with a sign. */
const stepsBefore: Readonly<Record<string, string>> = {
  confirmation_requested: 'An agent asked to pay',
  confirmation_approved: 'You approved a payment to',
  confirmation_declined: 'You declined a payment to',
  transfer_consent_invalid: 'Its approval did not hold, so nothing was paid to',
  x402_consent_invalid: 'Its approval did not hold, so nothing was paid to',
  transfer_reorged: 'The chain took back a payment to',
  x402_reorged: 'The chain took back a payment to',
}

/** Shows the amount, with a sign if money moved: plus for a deposit. */
function Amount({ item }: { item: ActivityItem }) {
  if (item.amount === undefined) return null
  const sign = item.type in stepsBefore ? '' : item.category === 'deposit' ? '+' : '−'
  return (
    <span class={sign === '' ? 'money amount quiet' : 'money amount'}>
      {sign}
      {forPeople(item.amount)} <span class="unit">{item.token}</span>
    </span>
  )
}

const columns = [
  'time',
  'category',
  'type',
  'summary',
  'status',
  'amount',
  'token',
  'chain',
  'tx_hash',
  'words_of_others',
] as const

/** Writes items as CSV (RFC 4180), with a byte order mark so that spreadsheets read UTF-8. */
export function csvBytes(items: readonly ActivityItem[]): Uint8Array<ArrayBuffer> {
  const lines = items.map((item) =>
    columns.map((column) => cell(columnValue(item, column))).join(','),
  )
  return new TextEncoder().encode(`\ufeff${[columns.join(','), ...lines].join('\r\n')}\r\n`)
}

function columnValue(item: ActivityItem, column: (typeof columns)[number]): string {
  const facts: Record<string, unknown> = { ...item, time: item.at }
  if (column === 'words_of_others') return Object.values(item.untrusted ?? {}).join(' ')
  const value = facts[column]
  return typeof value === 'string' ? value : ''
}

/**
 * Quotes one cell. A text that a spreadsheet would run as a formula gets an apostrophe in front (OWASP,
 * CSV injection), because memos and aliases are written by strangers.
 */
function cell(text: string): string {
  const inert = /^[\s"']*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text
  return `"${inert.replaceAll('"', '""')}"`
}
