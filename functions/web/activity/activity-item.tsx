/** The page of one activity item. An item of a payment leads to the page of that payment. */
import type { Child } from 'hono/jsx'
import type * as z from 'zod'
import { findChain } from '../../../shared/chains/registry.ts'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import {
  type ActivityItem,
  activityItem,
  activityRow,
} from '../../../shared/payments/show/activity.ts'
import { goTo, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import {
  Address,
  Facts,
  forPeople,
  Notice,
  Section,
  State,
  Time,
  Transaction,
} from '../ui/show.tsx'
import { type Owner, type PageContext, type Routes, webAppPath } from '../visit.ts'
import { categories } from './activity-lines.tsx'

type Found = z.output<typeof activityRow>
type Fact = readonly [name: string, value: Child]

/** Routes that show the item; older links to the proof of a payment lead to it. */
export const routes: Routes = (app) => {
  app.get('/activity/:id', async (c) => {
    const me = await requireOwner(c)
    const found = await findItem(c, me)
    if (found.payment) return goTo(c, `/payment/${found.payment.id}`)
    const item = activityItem(found)
    return sendPage(
      c,
      <Page
        c={c}
        title={titleOf(item)}
        owner={me}
        back={{ to: '/activity', label: 'Activity' }}
        lead={<Time at={item.at} />}
        scripts={['copy']}
      >
        {item.warning && <Notice kind="danger">{item.warning}</Notice>}
        <Section title="What happened">
          <p>{item.summary}</p>
          <Facts facts={[...movedFacts(item), ...chainFacts(item)]} />
        </Section>
        <WordsOfOthers words={item.untrusted} />
        <Behind found={found} />
      </Page>,
    )
  })
  app.get('/activity/:id/proof.json', async (c) => {
    const { payment } = await findItem(c, await requireOwner(c))
    if (!payment) throw new Rejection(fail('not_found'))
    return goTo(c, `/payment/${payment.id}/proof.json`)
  })
}

/** Reads the item of the address. One of another account answers exactly as a missing one. */
async function findItem(c: PageContext, { db }: Owner): Promise<Found> {
  const id = c.req.param('id') ?? ''
  const item = /^[0-9]{1,15}$/.test(id) ? Number(id) : undefined
  const found =
    item === undefined ? undefined : await db.one('owner_find_activity', { item }, activityRow)
  if (!found) throw new Rejection(fail('not_found'))
  return found
}

function titleOf(item: ActivityItem): string {
  const { category } = item
  if (item.amount === undefined) return categories[category]
  return `${categories[category]} of ${forPeople(item.amount)} ${item.token ?? ''}`
}

function movedFacts(item: ActivityItem): Fact[] {
  const { status, amount, token, from } = item
  return [
    ...(status ? [['Status', <State of={status} />] as const] : []),
    ...(amount ? [['Amount', `${forPeople(amount)} ${token ?? ''}`] as const] : []),
    ...(from?.alias ? [['From', from.alias] as const] : []),
    ...(from ? [['From address', <Address value={from.address} />] as const] : []),
  ]
}

function chainFacts(item: ActivityItem): Fact[] {
  const { chain, tx_hash: hash } = item
  const network = findChain(chain ?? '')
  return [
    ...(network ? [['Network', network.title] as const] : []),
    ...(hash === undefined
      ? []
      : [['Transaction', <Transaction chain={network} hash={hash} />] as const]),
  ]
}

const wordNames: Readonly<Record<string, string>> = {
  reason: 'Reason',
  username: 'User name',
  request: 'Request',
  from: 'From',
  to: 'To',
}

/** Shows text that others wrote, set apart so that nobody takes it for ours. */
function WordsOfOthers({ words = {} }: { words: Record<string, string> | undefined }) {
  const entries = Object.entries(words)
  if (entries.length === 0) return null
  return (
    <Section title="Text from others">
      <p class="quiet small">Written by whoever asked for this. We have not checked any of it.</p>
      <Facts facts={entries.map(([name, text]) => [wordNames[name] ?? name, text] as const)} />
    </Section>
  )
}

/** Links to what the item is about: mandate, login or mail. */
function Behind({ found: { mandate, entry, mail } }: { found: Found }) {
  const links = [
    { id: mandate, path: 'mandate', label: 'See the mandate' },
    { id: entry, path: 'vault', label: 'See the login' },
    { id: mail, path: 'mail', label: 'See the mail' },
  ]
  return links.map(({ id, path, label }) => {
    if (id === null) return null
    return (
      <p>
        <a href={`${webAppPath}/${path}/${id}`}>{label}</a>
      </p>
    )
  })
}
