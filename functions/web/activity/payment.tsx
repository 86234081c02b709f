/** The page of one payment: its steps, its terms, and proof and receipt to take away. */
import type { Child } from 'hono/jsx'
import { assetOf } from '../../../shared/chains/registry.ts'
import { fail, Rejection } from '../../../shared/contract/errors.ts'
import { formatAmount, formatUsd } from '../../../shared/money/amount.ts'
import type { Payment } from '../../../shared/payments/payment.ts'
import { transferProof } from '../../../shared/payments/show/transfer-status.ts'
import { merchantOf, refusalWords, summaryOf } from '../../../shared/payments/words.ts'
import { visibleText } from '../../../shared/text/untrusted.ts'
import { ReceiptLink } from '../approvals/consent-buttons.tsx'
import { requireOwner } from '../frame.ts'
import { Page, sendPage } from '../layout.tsx'
import { LabelForm } from '../recipients/label.tsx'
import { LinkButton } from '../ui/form.tsx'
import {
  Address,
  Facts,
  forPeople,
  Money,
  Notice,
  Section,
  State,
  Transaction,
} from '../ui/show.tsx'
import { type PageContext, type Routes, webAppPath } from '../visit.ts'
import { categories, isRefused, paymentOutcome, standingOf } from './activity-lines.tsx'
import { type FoundPayment, findPayment } from './payment-data.ts'
import { Steps } from './payment-steps.tsx'

type Fact = readonly [name: string, value: Child]

/** Routes that show the payment and send its proof as a file. */
export const routes: Routes = (app) => {
  app.get('/payment/:payment', async (c) => {
    const me = await requireOwner(c)
    const found = await findPayment(c, me)
    return sendPage(
      c,
      <Page
        c={c}
        title={titleOf(found.payment_row)}
        owner={me}
        back={{ to: '/activity', label: 'Activity' }}
        lead={<State of={standingOf(found.payment_row, found.approved_with !== null)} />}
        scripts={['copy']}
      >
        <Standing found={found} />
        <Section title="What happened">
          <Steps found={found} />
        </Section>
        <Section title="Details">
          <p>{summaryOf(found.payment_row)}</p>
          <Facts facts={[...payeeFacts(c, found), ...chainFacts(found.payment_row)]} />
        </Section>
        <Note memo={found.payment_row.memo} />
        <Papers payment={found.payment_row} />
      </Page>,
    )
  })
  app.get('/payment/:payment/proof.json', async (c) => {
    const { payment_row: payment } = await findPayment(c, await requireOwner(c))
    const proof = await transferProof(c.get('world'), payment, true)
    if (!proof) throw new Rejection(fail('not_found'))
    return c.json({ proof }, 200, {
      'content-disposition': `attachment; filename="proof-${payment.id}.json"`,
    })
  })
}

function titleOf(payment: Payment): string {
  const category = payment.terms['category'] === 'defi' ? 'defi' : payment.kind
  return `${categories[category]} of ${amountOf(payment)}`
}

function amountOf(payment: Payment): string {
  const { token } = assetOf(payment)
  const atomic = payment.settled_atomic ?? payment.amount_atomic
  return `${forPeople(formatAmount(atomic, token.decimals))} ${token.symbol}`
}

/** Says what is left to do, or why nothing was paid. */
function Standing({ found: { payment_row: payment, approved_with } }: { found: FoundPayment }) {
  const { failure, decline_reason: reason, asked_level: level, refused_for: codes } = payment
  const outcome = paymentOutcome(payment)
  const isForOwner = level === 'user_session' || level === 'user_passkey'
  if (outcome === 'waiting' && isForOwner && approved_with === null) {
    return (
      <p class="actions">
        <LinkButton to={`/approve/${payment.id}`} kind="main">
          Approve or decline
        </LinkButton>
      </p>
    )
  }
  if (outcome !== 'not_paid') return null
  if (codes && isRefused(payment)) {
    return (
      <Notice title="It was refused, and nothing was paid">
        {refusalWords(codes)} <a href={`${webAppPath}/limits`}>See your limits</a>
      </Notice>
    )
  }
  return (
    <Notice title="Nothing was paid">
      {failure !== null && sentence(failure)}
      {reason !== null && ` You told the agent: “${reason}”`}
      {failure === null && reason === null && endings[payment.state]}
    </Notice>
  )
}

const endings: Partial<Record<Payment['state'], string>> = {
  declined: 'You declined it.',
  expired: 'It was not confirmed in time.',
  released: 'It was cancelled before it was sent.',
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}

const consentWords: Record<NonNullable<Payment['consent_level']>, string> = {
  none: 'Within the limit for payments without asking',
  mandate: 'Covered by a mandate',
  agent_asserted: 'The agent said that you confirmed it',
  user_session: 'Approved by you in this app',
  user_passkey: 'Approved by you with your passkey',
}

function payeeFacts(c: PageContext, { payment_row: payment, agent, label }: FoundPayment): Fact[] {
  const { payee_alias: alias, payee, consent_level: level, mandate } = payment
  const { chain } = assetOf(payment)
  const merchant = merchantOf(payment)
  return [
    ...(merchant === null ? [] : [['Merchant', merchant] as const]),
    ...(label === null ? [] : [['To', label] as const]),
    ...(alias === null ? [] : [[label === null ? 'To' : 'Account', alias] as const]),
    [
      'To address',
      <>
        <Address value={payee} />{' '}
        <a href={`${chain.explorerUrl}/address/${payee}`} rel="noreferrer">
          View the address
        </a>
      </>,
    ],
    ['Name', <LabelForm c={c} address={payee} label={label} />],
    ['Requested by', agent],
    ...(level === null ? [] : [['Allowed because', consentWords[level]] as const]),
    ...(mandate === null
      ? []
      : [['Mandate', <a href={`${webAppPath}/mandate/${mandate}`}>See the mandate</a>] as const]),
  ]
}

function chainFacts(payment: Payment): Fact[] {
  const { chain } = assetOf(payment)
  const { tx_hash: hash, block_number: block, amount_usd_micros: usdMicros } = payment
  return [
    ['Counts as', <Money amount={formatUsd(usdMicros)} unit="USD" />],
    ['Network', chain.title],
    ...(hash === null ? [] : [['Transaction', <Transaction chain={chain} hash={hash} />] as const]),
    ...(block === null ? [] : [['Block', String(block)] as const]),
    ['Payment', <code class="long">{payment.id}</code>],
  ]
}

/** Shows what the agent wrote, set apart so that nobody takes it for ours. */
function Note({ memo }: { memo: string | null }) {
  if (memo === null) return null
  return (
    <Section title="Text from others">
      <p class="quiet small">Written by whoever asked for this. We have not checked any of it.</p>
      <Facts facts={[['Note from the agent', visibleText(memo)]]} />
    </Section>
  )
}

function Papers({ payment }: { payment: Payment }) {
  const isApproved = payment.consent_level?.startsWith('user_')
  return (
    <>
      {isApproved && <ReceiptLink of={`/approve/${payment.id}`} />}
      {payment.state === 'settled' && (
        <Section title="Proof">
          <p>
            The chain's own record of this payment, in a form that anybody can check without
            trusting us.
          </p>
          <p>
            <a href={`${webAppPath}/payment/${payment.id}/proof.json`} download>
              Download the proof
            </a>
          </p>
        </Section>
      )}
    </>
  )
}
