/** The page of one activity item, on which the owner reads its details and downloads its proof. */
import type { Child } from 'hono/jsx'
import * as z from 'zod'
import { findChain } from '../../../shared/chains/registry.ts'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import type { Payment } from '../../../shared/payments/payment.ts'
import {
  type ActivityItem,
  activityItem,
  activityRow,
} from '../../../shared/payments/show/activity.ts'
import { transferProof } from '../../../shared/payments/show/transfer-status.ts'
import { ReceiptLink } from '../approvals/consent-buttons.tsx'
import { requireOwner } from '../frame.ts'
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
import { categories } from './activity.tsx'

const foundRow = activityRow.extend({ asked_by: z.string().nullable() })
type Found = z.output<typeof foundRow>
type Fact = readonly [name: string, value: Child]

/** Routes that show the item and send its proof as a file. */
export const routes: Routes = (app) => {
  app.get('/activity/:id', async (c) => {
    const me = await requireOwner(c)
    const found = await findItem(c, me)
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
          <Facts facts={[...movedFacts(item), ...paymentFacts(found), ...chainFacts(item)]} />
        </Section>
        <WordsOfOthers words={item.untrusted} />
        <Behind found={found} />
        {found.payment?.state === 'settled' && <Proof id={found.id} />}
      </Page>,
    )
  })
  app.get('/activity/:id/proof.json', async (c) => {
    const { payment } = await findItem(c, await requireOwner(c))
    const proof = payment && (await transferProof(c.get('world'), payment, true))
    if (!payment || !proof) throw new Rejection(fail('not_found'))
    return c.json({ proof }, 200, {
      'content-disposition': `attachment; filename="proof-${payment.id}.json"`,
    })
  })
}

/** Reads the item of the address. One of another account answers exactly as a missing one. */
async function findItem(c: PageContext, { db }: Owner): Promise<Found> {
  const id = c.req.param('id') ?? ''
  const item = /^[0-9]{1,15}$/.test(id) ? Number(id) : undefined
  const found =
    item === undefined ? undefined : await db.one('owner_find_activity', { item }, foundRow)
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

const consentWords: Record<NonNullable<Payment['consent_level']>, string> = {
  none: 'Within the limit for payments without asking',
  mandate: 'Covered by a mandate',
  agent_asserted: 'On the word of the agent that you confirmed it',
  user_session: 'Approved by you in this app',
  user_passkey: 'Approved by you with your passkey',
}

function paymentFacts({ payment, asked_by }: Found): Fact[] {
  if (!payment) return []
  const { payee_alias: alias, consent_level: level, failure } = payment
  const origin = payment.terms['origin']
  return [
    ...(alias === null ? [] : [['To', alias] as const]),
    ['To address', <Address value={payment.payee} />],
    ...(typeof origin === 'string' ? [['For', origin] as const] : []),
    ...(asked_by === null ? [] : [['Asked by', asked_by] as const]),
    ...(level === null ? [] : [['Allowed because', consentWords[level]] as const]),
    ...(failure === null ? [] : [['Why it ended', sentence(failure)] as const]),
    ['Payment', <code>{payment.id}</code>],
    ...(payment.block_number === null ? [] : [['Block', String(payment.block_number)] as const]),
  ]
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
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
  memo: 'Note of the agent',
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
    <Section title="Words of others">
      <p class="quiet small">Written by whoever asked for this. We have not checked any of it.</p>
      <Facts facts={entries.map(([name, text]) => [wordNames[name] ?? name, text] as const)} />
    </Section>
  )
}

/** Links to what the item is based on or about: mandate, login, mail, receipt of the approval. */
function Behind({ found: { mandate, payment, entry, mail } }: { found: Found }) {
  const carried = mandate ?? payment?.mandate
  const isApproved = payment?.consent_level?.startsWith('user_')
  return (
    <>
      {carried && (
        <p>
          <a href={`${webAppPath}/mandate/${carried}`}>See the mandate</a>
        </p>
      )}
      {entry && (
        <p>
          <a href={`${webAppPath}/vault/${entry}`}>See the login</a>
        </p>
      )}
      {mail && (
        <p>
          <a href={`${webAppPath}/mail/${mail}`}>See the mail</a>
        </p>
      )}
      {isApproved && <ReceiptLink of={`/approve/${payment?.id}`} />}
    </>
  )
}

function Proof({ id }: { id: string }) {
  return (
    <Section title="Proof">
      <p>
        The chain's own record of this payment, in a form that anybody can check without trusting
        us.
      </p>
      <p>
        <a href={`${webAppPath}/activity/${id}/proof.json`} download>
          Download the proof
        </a>
      </p>
    </Section>
  )
}
