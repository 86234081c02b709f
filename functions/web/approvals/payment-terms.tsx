/** The terms of a payment that waits for the owner, and the warnings about it. */
import * as z from 'zod'
import { assetOf } from '../../../shared/chains/registry.ts'
import { formatAmount } from '../../../shared/money/amount.ts'
import { purchaseWarnings } from '../../../shared/payments/decide/warnings.ts'
import type { Payment } from '../../../shared/payments/payment.ts'
import { merchantOf, purposeOf } from '../../../shared/payments/words.ts'
import { headroom } from '../../../shared/policy/decide.ts'
import type { Window } from '../../../shared/policy/facts.ts'
import { visibleText } from '../../../shared/text/untrusted.ts'
import { limitWords } from '../limits/limits-data.ts'
import { LookalikeWarning, requesterFacts } from '../ui/attention.tsx'
import {
  Address,
  Facts,
  forPeople,
  Money,
  Notice,
  Section,
  Table,
  Time,
  usdRoundedDown,
  usdRoundedUp,
} from '../ui/show.tsx'
import type { Approval, OpenedApproval } from './approvals-data.ts'

/** Shows the amount that the payee gets. */
export function Amount({ payment }: { payment: Payment }) {
  const { token } = assetOf(payment)
  const amount = forPeople(formatAmount(payment.amount_atomic, token.decimals))
  return <Money amount={amount} unit={token.symbol} />
}

/** Shows all terms in full: nothing that is paid is left out or shortened. */
export function Terms({
  approval: { payment_row: payment, asked },
  title = 'What is paid',
}: {
  approval: Approval
  title?: string
}) {
  const { chain } = assetOf(payment)
  const { origin, scheme } = payment.terms
  const usd = <Money amount={usdRoundedUp(payment.amount_usd_micros)} unit="USD" />
  return (
    <Section title={title}>
      <Facts
        facts={[
          [scheme === 'upto' ? 'At most' : 'Amount', <Amount payment={payment} />],
          ['Counts as', usd],
          ['Network', chain.title],
          ...(payment.payee_alias === null ? [] : [['Account', payment.payee_alias] as const]),
          ['To the address', <Address value={payment.payee} />],
          ...(typeof origin === 'string' ? [['For', <code>{origin}</code>] as const] : []),
          ...(purposeOf(payment) ? [['Purpose', purposeOf(payment).trim()] as const] : []),
          ...purchaseRequest(payment),
          ...requesterFacts(asked),
          ...chosenOf(payment),
          ['Expires', <Time at={payment.expires_at} />],
        ]}
      />
    </Section>
  )
}

/** Shows the payee by name, network and whole address. `label` is the owner's name for it. */
export function Payee({ payment, label = null }: { payment: Payment; label?: string | null }) {
  const { chain } = assetOf(payment)
  return (
    <>
      <p>
        to <strong>{label ?? payment.payee_alias ?? merchantOf(payment) ?? 'an address'}</strong> on{' '}
        {chain.title}
      </p>
      <p>
        <Address value={payment.payee} />
      </p>
      {purposeOf(payment) && <p>{purposeOf(payment).trim()}</p>}
    </>
  )
}

/** Shows the note of the agent, if there is one. */
export function Note({ payment: { memo } }: { payment: Payment }) {
  if (memo === null) return null
  return (
    <figure>
      <blockquote>{visibleText(memo)}</blockquote>
      <figcaption class="hint">Note from the agent. Nobody has checked it.</figcaption>
    </figure>
  )
}

/** Returns as facts who may pay it and what the owner ticked. */
function chosenOf(payment: Payment) {
  const { for_any_key: isForAny, remembers_payee: payee, remembered_device: device } = payment
  const cap = payment.passes_daily_cap ? [['Daily spending cap', 'May be exceeded'] as const] : []
  const remembered = [payee && 'this payee', device !== null && 'this device'].filter((one) => one)
  return [
    [
      'May be paid by',
      isForAny ? 'Any key or app of this account' : 'Only the one that asked',
    ] as const,
    ...cap,
    ...(remembered.length > 0 ? [['You trusted', remembered.join(' and ')] as const] : []),
  ]
}

const requestTerms = z.object({
  request: z.object({ method: z.string(), url: z.string(), body_base64: z.string().nullable() }),
})

/** Returns the request of a purchase, which the digest of the terms covers; empty for a transfer. */
function purchaseRequest({ terms }: Payment) {
  const { data } = requestTerms.safeParse(terms)
  if (!data) return []
  const { method, url, body_base64: body } = data.request
  const asked = (
    <code class="long">
      {method} {url}
      {body !== null && ', with a body'}
    </code>
  )
  return [['Request', asked] as const]
}

/** Warns that the payee's address imitates a known one. */
export function ImitationWarning({ approval, facts }: OpenedApproval) {
  if (facts.similar_recipient === null) return null
  return <LookalikeWarning known={facts.similar_recipient} imitating={approval.payment_row.payee} />
}

/** Lists in few words what is usual and what is not about payee, device and purchase. */
export function Chips({ approval, facts, paid_before: paid }: OpenedApproval) {
  const { payment_row: payment, asked } = approval
  const often = paid.count === 1 ? 'once' : `${paid.count} times`
  return (
    <ul class="chips">
      {paid.count > 0 && (
        <li class="badge good">
          Paid {often} before, {usdRoundedUp(paid.usd_micros)} USD in all
        </li>
      )}
      {!facts.recipient_known && facts.similar_recipient === null && (
        <li class="badge warning">New recipient: compare the whole address</li>
      )}
      {approval.is_duplicate && <li class="badge warning">{duplicateWords}</li>}
      {asked.title !== null && !asked.device_known && <li class="badge warning">New device</li>}
      {purchaseWarnings({ payment_row: payment, facts }).map(({ message }) => (
        <li class="badge warning">{message}</li>
      ))}
    </ul>
  )
}

/** Warning about a payment of which an equal one waits or was made within ten minutes. */
export const duplicateWords = 'The same payment is waiting, or was just made'

/** Shows the rest of each limit now and after this payment, which counts for the daily caps only. */
export function Left({ approval, facts }: OpenedApproval) {
  const { limits, caps } = facts
  const { automatic_daily, asserted_daily, daily_spending_cap, monthly_spending_cap } = limits
  const usd = approval.payment_row.amount_usd_micros
  const after = (window: Window, amount: bigint) => ({ ...window, spent: window.spent + amount })
  const rows = [
    { name: limitWords.daily_spending_cap.title, window: daily_spending_cap, used: usd },
    { name: limitWords.monthly_spending_cap.title, window: monthly_spending_cap, used: usd },
    { name: limitWords.automatic_daily.title, window: automatic_daily, used: 0n },
    { name: limitWords.asserted_daily.title, window: asserted_daily, used: 0n },
    ...(caps.daily ? [{ name: 'This key or app', window: caps.daily, used: usd }] : []),
  ]
  return (
    <Section title="What it leaves in your limits">
      <Table
        caption="Limits in USD"
        rows={rows}
        columns={[
          { label: 'Limit', cell: ({ name }) => name },
          { label: 'Set to', cell: ({ window }) => usdRoundedDown(window.limit), isNumber: true },
          {
            label: 'Left now',
            cell: ({ window }) => usdRoundedDown(headroom(window)),
            isNumber: true,
          },
          {
            label: 'Left after',
            cell: ({ window, used }) => usdRoundedDown(headroom(after(window, used))),
            isNumber: true,
          },
        ]}
      />
    </Section>
  )
}

const untilFree =
  'Even if approved, it cannot be paid until enough of the cap is free again or you raise it.'

/** Warns that an approval alone will not let the payment out. */
export function OverLimitWarnings({ approval, facts: { limits, caps } }: OpenedApproval) {
  const usd = approval.payment_row.amount_usd_micros
  return (
    <>
      {headroom(limits.daily_spending_cap) < usd && (
        <Notice kind="warning" title="Over your daily spending cap">
          {approval.asked.title === null
            ? 'Tick the box below to let it exceed the cap this once, raise the cap, or wait.'
            : untilFree}
        </Notice>
      )}
      {headroom(limits.monthly_spending_cap) < usd && (
        <Notice kind="warning" title="Over the 30-day spending cap">
          {untilFree}
        </Notice>
      )}
      {(usd > (caps.payment ?? usd) || (caps.daily && headroom(caps.daily) < usd)) && (
        <Notice kind="warning" title="Over the cap of its key or app">
          Even if approved, that key or app cannot pay it until enough of its cap is free again or
          you raise it.
        </Notice>
      )}
    </>
  )
}
