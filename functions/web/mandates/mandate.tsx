/** The page of one mandate, which the owner narrows, approves, declines, suspends or revokes. */
import type { Child, PropsWithChildren } from 'hono/jsx'
import * as z from 'zod'
import { mandateTerms, termsDigest } from '../../../shared/consent/terms.ts'
import { mandateApproved } from '../../../shared/mail/money-messages.ts'
import { type MandateRow, mandateFacts } from '../../../shared/mandates/mandate-row.ts'
import { mandateSummary } from '../../../shared/mandates/words.ts'
import {
  ApprovalForm,
  ConsentProblemNotice,
  DeclineButton,
  Digest,
  ReceiptLink,
} from '../approvals/consent-buttons.tsx'
import { type ConsentProblem, consentProblemOf, outcomeRow } from '../approvals/consent-data.ts'
import { ApprovalOptions, approvalOptionsIn, digestsOf } from '../approvals/tick-boxes.tsx'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { readOwnerConsent } from '../own-consent.ts'
import { ownerSessionOf, sealOwnerNotice } from '../session.ts'
import { FrozenApprovalNotice } from '../ui/attention.tsx'
import { Button, Form } from '../ui/form.tsx'
import { ForeignLetters, Notice, Section, Time } from '../ui/show.tsx'
import { type PageContext, type Routes, webAppPath } from '../visit.ts'
import { ImitatedPayees, MandateHeadline, MandateTermsInFull, WorstCase } from './mandate-terms.tsx'
import { MandateBacktest, MandateUsage, Statement } from './mandate-use.tsx'
import { type OpenedMandate, openMandate, paidRow } from './mandates-data.ts'
import { NarrowForm, narrowedIn } from './narrow.tsx'

const paymentsListed = 25

/** Reason why a form was not accepted, with the input to show again. */
type Trouble = { consentProblem?: ConsentProblem; typed?: URLSearchParams; problem?: string }

/** Routes that show the mandate, take a decision and narrow it. */
export const routes: Routes = (app) => {
  app.get('/mandate/:mandate', async (c) => showMandate(c, await openMandate(c)))
  app.post('/mandate/:mandate', changeMandate)
  app.post('/mandate/:mandate/narrow', narrow)
}

async function showMandate(c: PageContext, opened: OpenedMandate, trouble: Trouble = {}) {
  const me = await requireOwner(c)
  const { mandate_row: mandate, asked } = opened
  const isPending = mandate.status === 'pending_approval'
  return sendPage(
    c,
    <Page
      c={c}
      title={titles[mandate.status]}
      owner={me}
      isDecision={isPending}
      back={{ to: '/mandates', label: 'Mandates' }}
      lead={!isPending && `For ${asked.title}: ${mandateSummary(mandateFacts(mandate))}`}
      scripts={['copy', 'passkey', 'considered']}
    >
      <ConsentProblemNotice why={trouble.consentProblem} />
      {isPending ? await pending(c, opened, trouble) : await decided(c, opened)}
    </Page>,
    trouble.consentProblem === undefined && trouble.problem === undefined ? 200 : 409,
  )
}

const titles: Record<MandateRow['status'], string> = {
  pending_approval: 'Approve this mandate?',
  active: 'This mandate is active',
  suspended: 'This mandate is suspended',
  exhausted: 'This mandate is used up',
  expired: 'This mandate has expired',
  revoked: 'This mandate is revoked',
  declined: 'You declined this mandate',
}

async function pending(c: PageContext, opened: OpenedMandate, { typed, problem }: Trouble) {
  const now = c.get('world').now()
  const { mandate_row: mandate } = opened
  const digests = await digestsOf(['any_key'], (ticked) => digestFor(mandate, ticked))
  const { isFrozen } = (await requireOwner(c)).account
  return (
    <>
      {isFrozen && <FrozenApprovalNotice />}
      <MandateHeadline opened={opened} now={now} />
      <ForeignLetters domain={mandate.merchant_domain} />
      <ImitatedPayees payees={opened.payees} />
      <NarrowForm c={c} mandate={mandate} now={now} typed={typed} problem={problem} />
      <MandateDecision c={c} opened={opened} digests={digests} isFrozen={isFrozen}>
        <details>
          <summary>All terms, and the worst case</summary>
          <MandateTermsInFull opened={opened} world={c.get('world')} />
          <WorstCase opened={opened} now={now} />
          <MandateBacktest opened={opened} now={now} />
          <Digest value={digests[''] ?? ''} />
        </details>
      </MandateDecision>
    </>
  )
}

function digestFor(mandate: MandateRow, ticked: readonly string[]): Promise<string> {
  const isForAny = ticked.includes('any_key')
  return termsDigest(mandateTerms({ ...mandate, for_any_key: isForAny }))
}

async function decided(c: PageContext, opened: OpenedMandate) {
  const { mandate_row: mandate, consent } = opened
  const [paid, older] = await paymentsOf(c, mandate)
  const here = `${webAppPath}/mandate/${mandate.id}`
  return (
    <>
      <MandateOutcome opened={opened} />
      <MandateTermsInFull opened={opened} world={c.get('world')} />
      {consent && <MandateUsage mandate={mandate} />}
      {consent && (
        <Statement
          paid={paid}
          newest={c.req.query('before') === undefined ? undefined : here}
          older={older && `${here}?before=${older}`}
        />
      )}
      {consent && <ReceiptLink of={`/mandate/${mandate.id}`} />}
      <MandateControls c={c} mandate={mandate} />
    </>
  )
}

/** Reads a page of payments under it, and the id after which the next page begins. */
async function paymentsOf(c: PageContext, { id }: MandateRow) {
  const { db } = await requireOwner(c)
  const before = z.uuid().safeParse(c.req.query('before')).data ?? null
  const question = { mandate: id, page: paymentsListed + 1, before }
  const found = await db.many('list_mandate_payments', question, paidRow)
  const paid = found.slice(0, paymentsListed)
  const last = found.length > paymentsListed ? paid.at(-1) : undefined
  return [paid, last?.payment_row.id] as const
}

async function changeMandate(c: PageContext): Promise<Response> {
  const { db } = await requireOwner(c)
  const form = await readFormFields(c)
  const opened = await openMandate(c)
  const { id: mandate } = opened.mandate_row
  const digest = form.get('digest') ?? ''
  switch (form.get('decision') ?? '') {
    case 'approved':
      return approveMandate(c, opened, form)
    case 'declined':
      await db.run('owner_decide_mandate', { mandate, decision: 'declined', digest })
      break
    case 'suspended':
    case 'resumed': {
      const suspended = form.get('decision') === 'suspended'
      await db.run('owner_suspend_mandate', { mandate, suspended })
      break
    }
    case 'revoked':
      await db.run('owner_revoke_mandate', { mandate })
      break
    default:
  }
  return goTo(c, `/mandate/${mandate}`)
}

async function approveMandate(c: PageContext, opened: OpenedMandate, form: URLSearchParams) {
  const { db } = await requireOwner(c)
  const { mandate_row: row, passkeys } = opened
  if (form.get('digest') !== (await digestFor(row, []))) {
    return showMandate(c, opened, { consentProblem: 'changed' })
  }
  const ticks = approvalOptionsIn(form)
  const digest = await digestFor(row, ticks)
  const assertion = await readOwnerConsent(await ownerSessionOf(c), form, digest, passkeys)
  if (assertion === undefined) return showMandate(c, opened, { consentProblem: 'answer' })
  const mail = await sealOwnerNotice(c, (webUrl, deed) =>
    mandateApproved(webUrl, {
      ...deed,
      terms: mandateSummary(mandateFacts(row)),
      isForAnyKey: ticks.includes('any_key'),
      mandate: row.id,
    }),
  )
  const question = {
    mandate: row.id,
    decision: 'approved',
    digest,
    assertion,
    mail,
    any_key: ticks.includes('any_key'),
  }
  const entered = await db.one('owner_decide_mandate', question, outcomeRow)
  const consentProblem = consentProblemOf(entered?.outcome)
  if (consentProblem) return showMandate(c, await openMandate(c), { consentProblem })
  return goTo(c, `/mandate/${row.id}`)
}

async function narrow(c: PageContext): Promise<Response> {
  const { db } = await requireOwner(c)
  const opened = await openMandate(c)
  const { mandate_row: mandate } = opened
  const typed = await readFormFields(c)
  const wanted = narrowedIn(typed, mandate, c.get('world').now())
  const done = wanted && (await db.one('owner_narrow_mandate', wanted, outcomeRow))
  const outcome = done?.outcome ?? 'unreadable'
  if (['narrowed', 'same', 'closed'].includes(outcome)) return goTo(c, `/mandate/${mandate.id}`)
  return showMandate(c, opened, { typed, problem: outcome })
}

/** Renders the form that approves or declines; on a frozen account it only declines. `children`: details. */
function MandateDecision({
  c,
  opened: { passkeys, mandate_row },
  digests,
  isFrozen,
  children,
}: PropsWithChildren<{
  c: PageContext
  opened: OpenedMandate
  digests: Record<string, string>
  isFrozen: boolean
}>) {
  if (!isFrozen) {
    return (
      <ApprovalForm
        c={c}
        digests={digests}
        passkeys={passkeys}
        label="Approve the mandate"
        ticks={
          <>
            {mandate_row.purpose === null && (
              <ApprovalOptions offered={['any_key']} subject="mandate" />
            )}
            {children}
          </>
        }
      >
        <DeclineButton />
      </ApprovalForm>
    )
  }
  return (
    <Form c={c}>
      {children}
      <input type="hidden" name="digest" value={digests['']} />
      <div class="actions">
        <DeclineButton />
      </div>
    </Form>
  )
}

const revokers: Record<NonNullable<MandateRow['revoked_by']>, string> = {
  owner: 'you',
  agent: 'an agent',
  app: 'the app that it was for, which gave up its access',
  service: 'the service, when it ended the access of the app that it was for',
}

/** Shows the state of a mandate that no longer waits. */
function MandateOutcome({ opened: { mandate_row, consent } }: { opened: OpenedMandate }) {
  const { status, decided_at, expires_at, revoked_at, revoked_by } = mandate_row
  const at = decided_at && <Time at={decided_at} />
  switch (status) {
    case 'pending_approval':
      return null
    case 'active':
      return (
        <Notice kind="good" title="Approved">
          {at}
          {consent?.level === 'user_passkey' && ' with your passkey'}. There is nothing more to do:
          your agent pays within these limits until <Time at={expires_at} isInSentence />, and each
          payment is listed below.
        </Notice>
      )
    case 'suspended':
      return (
        <Notice kind="warning" title="Suspended">
          Nothing is paid under it until you resume it. Your agent has to ask each time.
        </Notice>
      )
    case 'exhausted':
      return over('Used up', 'What it allowed is spent. Your agent can ask for another one.')
    case 'expired':
      return over('Expired', 'Nothing more is paid under it. Your agent can ask for another one.')
    case 'declined':
      return over('Declined', <>{at}. Nothing can be paid under it.</>)
    case 'revoked':
      return over(
        'Revoked',
        <>
          {revoked_at && <Time at={revoked_at} />} by {revokers[revoked_by ?? 'owner']}. Nothing
          more is paid under it; what was paid before stays paid.
        </>,
      )
  }
}

function over(title: string, words: Child) {
  return <Notice title={title}>{words}</Notice>
}

/** Renders the buttons that suspend, resume and revoke it, while it is active or suspended. */
function MandateControls({ c, mandate: { status } }: { c: PageContext; mandate: MandateRow }) {
  if (status !== 'active' && status !== 'suspended') {
    return (
      <p>
        <a href={`${webAppPath}/mandates`}>All mandates</a>
      </p>
    )
  }
  return (
    <Section title="Stop it">
      <p>You can resume a suspended mandate later. Revoking is final.</p>
      <Form c={c}>
        <div class="actions">
          <Button
            kind="plain"
            name="decision"
            value={status === 'active' ? 'suspended' : 'resumed'}
          >
            {status === 'active' ? 'Suspend it' : 'Resume it'}
          </Button>
          <Button kind="danger" name="decision" value="revoked">
            Revoke it
          </Button>
        </div>
      </Form>
    </Section>
  )
}
