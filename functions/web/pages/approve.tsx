import type { Child } from 'hono/jsx'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { recipientTrusted } from '../../../shared/mail/money-messages.ts'
import { statusOf } from '../../../shared/payments/words.ts'
import type { Opened, Standing } from '../data/approvals.ts'
import { openApprovals, standingOf } from '../data/approvals.ts'
import type { Unheard } from '../data/consent.ts'
import { outcomeRow, unheardOf } from '../data/consent.ts'
import type { Tick } from '../data/ticks.ts'
import { digestsOf, digestWith, ticksIn, ticksOffered } from '../data/ticks.ts'
import { fields, goTo, owner } from '../frame.ts'
import { Page, show } from '../layout.tsx'
import { consentIn } from '../own-consent.ts'
import { noticeOf, ownSession } from '../own-session.ts'
import { Amount, Left, Terms, Warnings } from '../parts/approval.tsx'
import { FrozenNotice } from '../parts/attention.tsx'
import { ConsentForm, Digest, NotHeard, ReceiptLink } from '../parts/consent.tsx'
import { Button, Form, LinkButton } from '../parts/form.tsx'
import { Notice, Time } from '../parts/show.tsx'
import { State } from '../parts/state.tsx'
import { Ticks } from '../parts/ticks.tsx'
import type { Routes, Visit } from '../visit.ts'

export const routes: Routes = (app) => {
  app.get('/approve/:payment', async (c) => showApproval(c, await open(c)))
  app.post('/approve/:payment', decide)
}

async function showApproval(c: Visit, opened: Opened, unheard?: Unheard) {
  const me = await owner(c)
  const { approval, facts } = opened
  const standing = standingOf(approval, facts.now)
  const isFrozen = me.account.isFrozen && standing === 'waiting'
  const digests = await digestsOf(ticksOffered(opened), (ticked) => digestWith(opened, ticked))
  const digest = digests[''] ?? ''
  return show(
    c,
    <Page
      c={c}
      title={titles[standing]}
      owner={me}
      back={{ to: '/approvals', label: 'Approvals' }}
      lead={<Asked {...approval} />}
      scripts={['copy', 'passkey', 'considered']}
    >
      <NotHeard why={unheard} />
      {isFrozen && <FrozenNotice />}
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

async function decide(c: Visit): Promise<Response> {
  const { db } = await owner(c)
  const form = await fields(c)
  const opened = await open(c)
  const { id } = opened.approval.payment_row
  if (form.get('decision') !== 'approved') {
    await db.run('owner_decide_payment', { payment: id, decision: 'declined', ...shownIn(form) })
    return goTo(c, `/approve/${id}`)
  }
  return approve(c, opened, form)
}

async function approve(c: Visit, opened: Opened, form: URLSearchParams): Promise<Response> {
  const { db } = await owner(c)
  const { id: payment } = opened.approval.payment_row
  const { digest: shown, asker } = shownIn(form)
  if (shown !== (await digestWith(opened, []))) return showApproval(c, opened, 'changed')
  const ticks = ticksIn(form)
  const digest = await digestWith(opened, ticks)
  const assertion = await consentIn(await ownSession(c), form, digest, opened.passkeys)
  if (assertion === undefined) return showApproval(c, opened, 'answer')
  // What is decided is what was shown: SQL refuses other terms and another key or device.
  const question = { payment, decision: 'approved', digest, asker, assertion }
  const ticked = Object.fromEntries(ticks.map((name) => [name, true]))
  const mail = await mailAbout(c, opened, ticks)
  const entered = await db.one('owner_decide_payment', { ...question, ...ticked, mail }, outcomeRow)
  const unheard = unheardOf(entered?.outcome)
  return unheard ? showApproval(c, await open(c), unheard) : goTo(c, `/approve/${payment}`)
}

/** Only of a payee that is trusted from now on. */
async function mailAbout(c: Visit, { approval }: Opened, ticks: readonly Tick[]) {
  if (!ticks.includes('remember_payee')) return null
  const { payee: address, payee_alias: label } = approval.payment_row
  return noticeOf(c, (webUrl, deed) => recipientTrusted(webUrl, { ...deed, label, address }))
}

function shownIn(form: URLSearchParams) {
  return { digest: form.get('digest') ?? '', asker: form.get('asker') ?? '' }
}

/** The payment of the address; of a stranger's nothing is told but that there is none here. */
async function open(c: Visit): Promise<Opened> {
  const [opened] = await openApprovals(await owner(c), [c.req.param('payment') ?? ''])
  if (opened) return opened
  const message = 'This account has no such request. A link works only in the account it is for.'
  throw new Rejection(fail('payment_not_found', { message }))
}

const titles: Record<Standing, string> = {
  waiting: 'Approve this payment?',
  approved: 'You approved this payment',
  declined: 'You declined this payment',
  expired: 'This request has expired',
  used: 'This link is used',
  other: 'Nothing to decide',
}

function Asked({ asked, payment_row }: Opened['approval']) {
  return (
    <>
      {asked.title} asked to pay <Amount payment={payment_row} />.
    </>
  )
}

/** What became of a request that waits no more. */
function Outcome({ approval, facts }: Opened) {
  const { decided_at, payment_row: payment } = approval
  switch (standingOf(approval, facts.now)) {
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
  c: Visit
  opened: Opened
  digests: Record<string, string>
  isFrozen: boolean
}) {
  const { approval, facts, passkeys } = opened
  const standing = standingOf(approval, facts.now)
  if (standing === 'waiting' && !isFrozen) {
    const label = 'Approve and allow it once'
    const consent = { digests, passkeys, label, asker: approval.asked.asker }
    return (
      <ConsentForm
        c={c}
        {...consent}
        ticks={<Ticks offered={ticksOffered(opened)} subject="payment" />}
      >
        <DeclineButton>Decline</DeclineButton>
      </ConsentForm>
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
