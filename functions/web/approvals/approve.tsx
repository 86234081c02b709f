/** The page of one payment, which the owner approves, declines, or takes an approval back from. */
import type { Child } from 'hono/jsx'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { recipientTrusted } from '../../../shared/mail/money-messages.ts'
import { statusOf } from '../../../shared/payments/words.ts'
import { goTo, readFormFields, requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { readOwnerConsent } from '../own-consent.ts'
import { ownerSessionOf, sealOwnerNotice } from '../own-session.ts'
import { FrozenApprovalNotice } from '../ui/attention.tsx'
import { Button, Form, LinkButton } from '../ui/form.tsx'
import { Notice, Time } from '../ui/show.tsx'
import { State } from '../ui/state.tsx'
import type { PageContext, Routes } from '../visit.ts'
import type { ApprovalStatus, OpenedApproval } from './approvals-data.ts'
import { approvalStatusOf, openApprovals } from './approvals-data.ts'
import { ApprovalForm, ConsentProblemNotice, Digest, ReceiptLink } from './consent-buttons.tsx'
import type { ConsentProblem } from './consent-data.ts'
import { consentProblemOf, outcomeRow } from './consent-data.ts'
import { Amount, Left, Terms, Warnings } from './payment-terms.tsx'
import { ApprovalOptions } from './tick-boxes.tsx'
import type { ApprovalOption } from './ticks-data.ts'
import { approvalOptionsIn, digestsOf, digestWithOptions, offeredOptionsOf } from './ticks-data.ts'

/** Routes that show the payment and take the decision. */
export const routes: Routes = (app) => {
  app.get('/approve/:payment', async (c) => showApproval(c, await open(c)))
  app.post('/approve/:payment', decide)
}

async function showApproval(c: PageContext, opened: OpenedApproval, unheard?: ConsentProblem) {
  const me = await requireOwner(c)
  const { approval, facts } = opened
  const standing = approvalStatusOf(approval, facts.now)
  const isFrozen = me.account.isFrozen && standing === 'waiting'
  const digests = await digestsOf(offeredOptionsOf(opened), (ticked) =>
    digestWithOptions(opened, ticked),
  )
  const digest = digests[''] ?? ''
  return sendPage(
    c,
    <Page
      c={c}
      title={titles[standing]}
      owner={me}
      back={{ to: '/approvals', label: 'Approvals' }}
      lead={<Asked {...approval} />}
      scripts={['copy', 'passkey', 'considered']}
    >
      <ConsentProblemNotice why={unheard} />
      {isFrozen && <FrozenApprovalNotice />}
      {standing === 'waiting' ? <Warnings {...opened} /> : <Outcome {...opened} />}
      <Terms approval={approval} />
      {standing === 'waiting' && <Left {...opened} />}
      <Digest value={digest} />
      {approval.decision === 'approved' && (
        <ReceiptLink of={`/approve/${approval.payment_row.id}`} />
      )}
      <Decision c={c} opened={opened} digests={digests} isFrozen={isFrozen} />
    </Page>,
    unheard === undefined ? 200 : 409,
  )
}

async function decide(c: PageContext): Promise<Response> {
  const { db } = await requireOwner(c)
  const form = await readFormFields(c)
  const opened = await open(c)
  const { id } = opened.approval.payment_row
  if (form.get('decision') !== 'approved') {
    await db.run('owner_decide_payment', { payment: id, decision: 'declined', ...shownIn(form) })
    return goTo(c, `/approve/${id}`)
  }
  return approve(c, opened, form)
}

async function approve(
  c: PageContext,
  opened: OpenedApproval,
  form: URLSearchParams,
): Promise<Response> {
  const { db } = await requireOwner(c)
  const { id: payment } = opened.approval.payment_row
  const { digest: shown, asker } = shownIn(form)
  if (shown !== (await digestWithOptions(opened, []))) return showApproval(c, opened, 'changed')
  const ticks = approvalOptionsIn(form)
  const digest = await digestWithOptions(opened, ticks)
  const assertion = await readOwnerConsent(await ownerSessionOf(c), form, digest, opened.passkeys)
  if (assertion === undefined) return showApproval(c, opened, 'answer')
  // The decision is bound to what was shown: SQL refuses other terms and another key or device.
  const question = { payment, decision: 'approved', digest, asker, assertion }
  const ticked = Object.fromEntries(ticks.map((name) => [name, true]))
  const mail = await mailAbout(c, opened, ticks)
  const entered = await db.one('owner_decide_payment', { ...question, ...ticked, mail }, outcomeRow)
  const unheard = consentProblemOf(entered?.outcome)
  return unheard ? showApproval(c, await open(c), unheard) : goTo(c, `/approve/${payment}`)
}

/** Seals a mail about the payee if it becomes known; null otherwise. */
async function mailAbout(
  c: PageContext,
  { approval }: OpenedApproval,
  ticks: readonly ApprovalOption[],
) {
  if (!ticks.includes('remember_payee')) return null
  const { payee: address, payee_alias: label } = approval.payment_row
  return sealOwnerNotice(c, (webUrl, deed) => recipientTrusted(webUrl, { ...deed, label, address }))
}

function shownIn(form: URLSearchParams) {
  return { digest: form.get('digest') ?? '', asker: form.get('asker') ?? '' }
}

/** Reads the payment of the address. One of another account answers exactly as a missing one. */
async function open(c: PageContext): Promise<OpenedApproval> {
  const [opened] = await openApprovals(await requireOwner(c), [c.req.param('payment') ?? ''])
  if (opened) return opened
  const message = 'This account has no such request. A link works only in the account it is for.'
  throw new Rejection(fail('payment_not_found', { message }))
}

const titles: Record<ApprovalStatus, string> = {
  waiting: 'Approve this payment?',
  approved: 'You approved this payment',
  declined: 'You declined this payment',
  expired: 'This request has expired',
  used: 'This link is used',
  other: 'Nothing to decide',
}

function Asked({ asked, payment_row }: OpenedApproval['approval']) {
  return (
    <>
      {asked.title} asked to pay <Amount payment={payment_row} />.
    </>
  )
}

/** Shows the outcome of a request that no longer waits. */
function Outcome({ approval, facts }: OpenedApproval) {
  const { decided_at, payment_row: payment } = approval
  switch (approvalStatusOf(approval, facts.now)) {
    case 'waiting':
      return null
    case 'approved':
      return (
        <Notice kind="good" title="Approved">
          {decided_at && <Time at={decided_at} />}. The agent can send it once, until{' '}
          <Time at={payment.expires_at} />.
        </Notice>
      )
    case 'declined':
      return (
        <Notice title="Declined">
          {decided_at && <Time at={decided_at} />}. Nothing was paid, and it cannot be sent any
          more.
        </Notice>
      )
    case 'expired':
      return <Notice title="Expired">Nothing was paid. The agent has to ask again.</Notice>
    case 'used':
      return (
        <Notice>
          The payment was sent or tried. <State of={statusOf(payment.state)} />
        </Notice>
      )
    case 'other':
      return <Notice>This payment does not wait for you.</Notice>
  }
}

function Decision({
  c,
  opened,
  digests,
  isFrozen,
}: {
  c: PageContext
  opened: OpenedApproval
  digests: Record<string, string>
  isFrozen: boolean
}) {
  const { approval, facts, passkeys } = opened
  const standing = approvalStatusOf(approval, facts.now)
  if (standing === 'waiting' && !isFrozen) {
    const label = 'Approve and allow it once'
    const consent = { digests, passkeys, label, asker: approval.asked.asker }
    return (
      <ApprovalForm
        c={c}
        {...consent}
        ticks={<ApprovalOptions offered={offeredOptionsOf(opened)} subject="payment" />}
      >
        <DeclineButton>Decline</DeclineButton>
      </ApprovalForm>
    )
  }
  if (standing === 'waiting' || standing === 'approved') {
    return (
      <Form c={c}>
        <input type="hidden" name="digest" value={digests['']} />
        <div class="actions">
          <DeclineButton>
            {standing === 'waiting' ? 'Decline' : 'Take the approval back'}
          </DeclineButton>
        </div>
      </Form>
    )
  }
  return (
    <p class="actions">
      <LinkButton to="/approvals">All approvals</LinkButton>
    </p>
  )
}

function DeclineButton({ children }: { children: Child }) {
  return (
    <Button kind="plain" name="decision" value="declined">
      {children}
    </Button>
  )
}
