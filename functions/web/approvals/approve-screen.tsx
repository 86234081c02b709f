/** The screen on which the owner decides about one payment and sees what became of it. */
import type { PropsWithChildren } from 'hono/jsx'
import { assetOf } from '../../../shared/chains/registry.ts'
import { formatAmount } from '../../../shared/money/amount.ts'
import type { Payment } from '../../../shared/payments/payment.ts'
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { FrozenApprovalNotice } from '../ui/attention.tsx'
import { Button, Checkbox, Form, LinkButton } from '../ui/form.tsx'
import { agoOf, forPeople } from '../ui/show.tsx'
import { type PageContext, webAppPath } from '../visit.ts'
import { type ApprovalStatus, approvalStatusOf, type OpenedApproval } from './approvals-data.ts'
import { Outcome } from './approve-outcome.tsx'
import {
  ApprovalForm,
  ConsentProblemNotice,
  DeclineButton,
  DeclineReason,
  Digest,
  ReceiptLink,
} from './consent-buttons.tsx'
import type { ConsentProblem } from './consent-data.ts'
import {
  Amount,
  Chips,
  ImitationWarning,
  Left,
  Note,
  OverLimitWarnings,
  Payee,
  Terms,
} from './payment-terms.tsx'
import { ApprovalOptions, digestsOf, digestWithOptions, offeredOptionsOf } from './tick-boxes.tsx'

/** Shows the payment with its decision or its outcome. `consentProblem`: why a consent was not entered. */
export async function showApproval(
  c: PageContext,
  opened: OpenedApproval,
  consentProblem?: ConsentProblem,
) {
  const me = await requireOwner(c)
  const { approval, facts } = opened
  const standing = approvalStatusOf(approval, facts.now)
  const isWaiting = standing === 'waiting'
  const isFrozen = me.account.isFrozen && isWaiting
  const digests = await digestsOf(offeredOptionsOf(opened), (ticked) =>
    digestWithOptions(opened, ticked),
  )
  return sendPage(
    c,
    <Page
      c={c}
      title={titles[standing]}
      owner={me}
      isDecision
      back={{ to: '/approvals', label: 'Approvals' }}
      scripts={['copy', 'passkey', 'considered', 'watch']}
      {...(standing === 'sent' && { refreshSeconds: 5 })}
    >
      <ConsentProblemNotice why={consentProblem} />
      {isFrozen && <FrozenApprovalNotice />}
      <Headline {...opened} />
      {isWaiting ? <Chips {...opened} /> : <Outcome c={c} standing={standing} {...opened} />}
      {isWaiting && <ImitationWarning {...opened} />}
      {isWaiting && <OverLimitWarnings {...opened} />}
      <Decision c={c} opened={opened} standing={standing} digests={digests} isFrozen={isFrozen} />
    </Page>,
    consentProblem === undefined ? 200 : 409,
  )
}

const titles: Record<ApprovalStatus, string> = {
  waiting: 'Approve this payment?',
  approved: 'You approved this payment',
  sent: 'This payment is on its way',
  paid: 'This payment was made',
  unpaid: 'This payment was not made',
  declined: 'You declined this payment',
  expired: 'This request has expired',
  used: 'This payment needed no approval',
  other: 'Nothing to decide',
}

/** Shows how much goes to whom, who asks for it, and the note. */
function Headline({ approval, facts }: OpenedApproval) {
  const { asked, payment_row: payment } = approval
  return (
    <div class="headline">
      <p class="figure">
        {payment.terms['scheme'] === 'upto' && <span class="unit">up to </span>}
        <Amount payment={payment} />
      </p>
      <Payee payment={payment} label={approval.label} />
      <p class="quiet">
        {asked.title === null ? 'You entered it' : `${asked.title} asked`}{' '}
        {agoOf(facts.now * 1000, payment.created_at)}.
      </p>
      <Note payment={payment} />
    </div>
  )
}

type DecisionProps = {
  c: PageContext
  opened: OpenedApproval
  standing: ApprovalStatus
  digests: Record<string, string>
  isFrozen: boolean
}

function Decision({ c, opened, standing, digests, isFrozen }: DecisionProps) {
  const { approval } = opened
  const isWaiting = standing === 'waiting'
  const details = <Details opened={opened} isWaiting={isWaiting} digest={digests[''] ?? ''} />
  if (isWaiting && !isFrozen) {
    return (
      <WaitingForm c={c} opened={opened} digests={digests}>
        {details}
      </WaitingForm>
    )
  }
  if (!isWaiting && standing !== 'approved') {
    return (
      <WhatNext standing={standing} approval={approval}>
        {details}
      </WhatNext>
    )
  }
  return (
    <Form c={c}>
      {details}
      <DeclineReason />
      <input type="hidden" name="digest" value={digests['']} />
      <SendOrTakeBack standing={standing} kind={approval.payment_row.kind} />
    </Form>
  )
}

/** Renders the buttons of an approved payment; one that waits on a frozen account can only be declined. */
function SendOrTakeBack({ standing, kind }: { standing: ApprovalStatus; kind: Payment['kind'] }) {
  const isApproved = standing === 'approved'
  return (
    <>
      {isApproved && (
        <Checkbox name="sure" label="Withdraw my approval: the payment can no longer be sent" />
      )}
      <div class="actions">
        {isApproved && kind === 'transfer' && (
          <Button name="decision" value="send">
            Send it now
          </Button>
        )}
        <DeclineButton label={isApproved ? 'Withdraw the approval' : 'Decline'} />
      </div>
    </>
  )
}

function WhatNext({
  standing,
  approval: { asked, payment_row: payment },
  children,
}: PropsWithChildren<{ standing: ApprovalStatus } & Pick<OpenedApproval, 'approval'>>) {
  return (
    <>
      {children}
      <p class="actions">
        {asked.title !== null && (standing === 'sent' || standing === 'paid') && (
          <LinkButton to={`/approve/${payment.id}/always`}>Always allow</LinkButton>
        )}
        <LinkButton to="/approvals">All approvals</LinkButton>
      </p>
    </>
  )
}

/** Offers what can be ticked, a reason for a decline, and both buttons. */
function WaitingForm({
  c,
  opened,
  digests,
  children,
}: PropsWithChildren<Pick<DecisionProps, 'c' | 'opened' | 'digests'>>) {
  const { approval, passkeys } = opened
  const consent = { digests, passkeys, label: paymentLabel(opened), asker: approval.asked.asker }
  const ticks = (
    <>
      <ApprovalOptions offered={offeredOptionsOf(opened)} subject="payment" />
      {children}
      <DeclineReason />
    </>
  )
  return (
    <ApprovalForm c={c} {...consent} ticks={ticks}>
      <DeclineButton />
    </ApprovalForm>
  )
}

/** Says on the button what pressing it does. */
function paymentLabel({ approval: { payment_row: payment } }: OpenedApproval): string {
  const { token } = assetOf(payment)
  if (payment.kind !== 'transfer') return 'Approve the purchase'
  const amount = forPeople(formatAmount(payment.amount_atomic, token.decimals))
  return `Approve and pay ${amount} ${token.symbol}`
}

/** Folds in all terms, what they leave of the limits, and what an approval is bound to. */
function Details({
  opened,
  isWaiting,
  digest,
}: {
  opened: OpenedApproval
  isWaiting: boolean
  digest: string
}) {
  const { approval } = opened
  return (
    <details>
      <summary>All terms and limits</summary>
      <Terms approval={approval} />
      {isWaiting && <Left {...opened} />}
      {isWaiting && approval.asked.title !== null && (
        <p>
          <a href={`${webAppPath}/approve/${approval.payment_row.id}/always`}>
            Always allow payments like this one, up to an amount in 30 days
          </a>
        </p>
      )}
      <Digest value={digest} />
      {approval.decision === 'approved' && (
        <ReceiptLink of={`/approve/${approval.payment_row.id}`} />
      )}
    </details>
  )
}
