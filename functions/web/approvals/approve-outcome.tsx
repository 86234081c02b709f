/** Outcome of a payment that the owner was asked about. */
import { assetOf } from '../../../shared/chains/registry.ts'
import { stateSentence } from '../../../shared/payments/words.ts'
import { Notice, State, Time } from '../ui/show.tsx'
import { type PageContext, webAppPath } from '../visit.ts'
import type { ApprovalStatus, OpenedApproval } from './approvals-data.ts'

/** Text that changes when the outcome of a payment does. */
export function standingMark({ approval: { payment_row: payment } }: OpenedApproval): string {
  return `${payment.state} ${payment.finality ?? ''}`
}

type OutcomeProps = OpenedApproval & { c: PageContext; standing: ApprovalStatus }

/** Shows the outcome of a request that no longer waits. */
export function Outcome({ c, standing, ...opened }: OutcomeProps) {
  const { approval } = opened
  const { decided_at, payment_row: payment } = approval
  switch (standing) {
    case 'waiting':
      return null
    case 'approved':
      return <Approved {...opened} why={whyNotSent(c.req.query('unsent'))} />
    case 'sent':
    case 'paid':
      return <OnChain opened={opened} isPaid={standing === 'paid'} />
    case 'unpaid':
      return <Notice>The network did not accept it in time. Nothing was paid.</Notice>
    case 'declined':
      return (
        <Notice title="Declined">
          {decided_at && <Time at={decided_at} />}. Nothing was paid, and it can no longer be sent.
          {payment.decline_reason !== null && ` The agent is told: “${payment.decline_reason}”`}
        </Notice>
      )
    case 'expired':
      return <Notice title="Expired">Nothing was paid. The agent has to ask again.</Notice>
    case 'used':
      return (
        <Notice>
          It was within your limits. <State of={stateSentence(payment.state)} />
        </Notice>
      )
    case 'other':
      return <Notice>This payment is not waiting for you.</Notice>
  }
}

function Approved({ approval, why }: OpenedApproval & { why: string | undefined }) {
  const { decided_at, payment_row: payment } = approval
  const until = <Time at={payment.expires_at} isInSentence />
  if (why !== undefined) {
    return (
      <Notice kind="warning" title="Approved, not sent yet">
        {why} It can be sent until {until}.
      </Notice>
    )
  }
  return (
    <Notice kind="good" title="Approved">
      {decided_at && <Time at={decided_at} />}.{' '}
      {payment.kind === 'transfer'
        ? 'It can be sent'
        : 'The agent can complete the purchase and receive the result'}{' '}
      until {until}.
    </Notice>
  )
}

/** Shows a payment that left, with a link to its transaction. */
function OnChain({ opened, isPaid }: { opened: OpenedApproval; isPaid: boolean }) {
  const { payment_row: payment } = opened.approval
  const { chain } = assetOf(payment)
  return (
    <div data-watch={`${webAppPath}/approve/${payment.id}/status`} data-seen={standingMark(opened)}>
      <Notice kind={isPaid ? 'good' : 'info'} title={isPaid ? 'Paid' : 'Sent'}>
        {isPaid
          ? `It is in a block on ${chain.title}.`
          : `Waiting for ${chain.title} to include it.`}{' '}
        {payment.tx_hash !== null && (
          <a href={`${chain.explorerUrl}/tx/${payment.tx_hash}`} rel="noreferrer">
            View the transaction
          </a>
        )}
      </Notice>
    </div>
  )
}

/** Says to the owner why an approved payment was not sent. */
function whyNotSent(code: string | undefined): string | undefined {
  if (code === undefined) return undefined
  return sentences[code] ?? 'It could not be sent now.'
}

const sentences: Readonly<Record<string, string>> = {
  insufficient_funds: 'The wallet does not hold enough. Deposit first, then send it.',
  limit_exceeded: 'It is over one of your limits. Raise the limit, or send it later.',
  recipient_refused: 'The issuer of the token has blocked this recipient.',
  amount_too_small: 'The amount is too small for the service to pay its gas.',
  relay_limit_reached: 'This account has used up the gas that the service pays for in a day.',
  unavailable: 'The network did not answer.',
  account_frozen: 'The account is frozen.',
}
