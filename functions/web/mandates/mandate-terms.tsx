/** A mandate as its owner reads it: its state, its terms in full, and the most that can leave by it. */
import type { Child } from 'hono/jsx'
import { connectedChains, tokenByAddress } from '../../../shared/chains/registry.ts'
import { type MandateRow, mandateFacts } from '../../../shared/mandates/mandate-row.ts'
import { capWords } from '../../../shared/mandates/words.ts'
import { formatUsd } from '../../../shared/money/amount.ts'
import { backtestMandate } from '../../../shared/policy/rehearsal.ts'
import { type WorstCaseBound, worstCase } from '../../../shared/policy/worst-case.ts'
import type { World } from '../../../shared/world.ts'
import { LookalikeWarning, requesterFacts } from '../ui/attention.tsx'
import {
  Address,
  agoOf,
  Badge,
  Facts,
  Merchant,
  Money,
  Section,
  Time,
  usdRoundedUp,
} from '../ui/show.tsx'
import type { OpenedMandate } from './mandates-data.ts'

type Status = MandateRow['status']

const words: Record<Status, readonly ['plain' | 'good' | 'warning', string]> = {
  pending_approval: ['warning', 'Waiting for you'],
  active: ['good', 'Active'],
  suspended: ['warning', 'Suspended'],
  exhausted: ['plain', 'Used up'],
  expired: ['plain', 'Expired'],
  revoked: ['plain', 'Revoked'],
  declined: ['plain', 'Declined'],
}

/** Shows the state in a word. */
export function MandateState({ status }: { status: Status }) {
  const [kind, word] = words[status]
  return <Badge kind={kind}>{word}</Badge>
}

/** Shows a cap to its last digit. */
export function Cap({ usdMicros }: { usdMicros: bigint }) {
  return <Money amount={formatUsd(usdMicros)} unit="USD" />
}

/** Shows all terms: every bound that is set, and every bound that is missing. */
export function MandateTermsInFull({ opened, world }: { opened: OpenedMandate; world: World }) {
  const { mandate_row: mandate, asked } = opened
  const { max_day_usd_micros: day, max_total_usd_micros: total, max_payments: count } = mandate
  return (
    <Section title="What it allows">
      <Facts
        facts={[
          ['Merchant', <Merchant domain={mandate.merchant_domain} />],
          ['Subdomains', mandate.include_subdomains ? 'All of them' : 'None'],
          [
            'Each payment',
            <>
              At most <Cap usdMicros={mandate.max_payment_usd_micros} />
            </>,
          ],
          [
            'In 24 hours',
            day === null ? (
              noCap
            ) : (
              <>
                At most <Cap usdMicros={day} />
              </>
            ),
          ],
          [
            'In all',
            total === null ? (
              noCap
            ) : (
              <>
                At most <Cap usdMicros={total} />
              </>
            ),
          ],
          ['Payments', count === null ? 'Any number' : `At most ${count}`],
          ...pinnedTerms(mandate, world),
          ['Ends', <Time at={mandate.expires_at} />],
          ...(mandate.by_owner
            ? [['You created it for', asked.title] as const]
            : requesterFacts(asked)),
          ['May be used by', whoPays(mandate)],
        ]}
      />
      {isNarrowed(mandate) && mandate.status !== 'pending_approval' && (
        <p class="hint">You narrowed what was asked for.</p>
      )}
    </Section>
  )
}

function whoPays({ for_any_key: isForAny, device }: MandateRow): string {
  if (isForAny) return 'Any key or app of this account'
  return device === ''
    ? 'Only it, or a key that replaces it, from devices that you trust'
    : 'Only the one that asked, or a key that replaces it'
}

const noCap = 'No limit of its own'

/** True if the owner narrowed a mandate before deciding. */
function isNarrowed({ requested }: MandateRow): boolean {
  return requested !== null && requested !== undefined
}

function pinnedTerms({ chains, tokens, pay_to }: MandateRow, { config }: World) {
  const known = connectedChains(config)
  const network = (id: number) => known.find((chain) => chain.id === id)?.title ?? `eip155:${id}`
  const token = (address: string) => {
    const symbols = known.map((chain) => tokenByAddress(chain, address)?.symbol)
    return symbols.find((symbol) => symbol !== undefined) ?? <Address value={address} />
  }
  const fact = (name: string, otherwise: string, list: readonly Child[] | undefined) =>
    [name, list ? <Listed list={list} /> : otherwise] as const
  return [
    fact('Networks', 'Any', chains?.map(network)),
    fact('Tokens', 'Any', tokens?.map(token)),
    fact('To addresses', 'Any that the merchant names', pay_to?.map(address)),
    ['Transfers', pay_to ? 'Covered too, to these addresses' : 'Not covered'] as const,
  ]
}

function address(value: string) {
  return <Address value={value} />
}

function Listed({ list }: { list: readonly Child[] }) {
  return list.length === 1 ? (
    <>{list}</>
  ) : (
    <ul>
      {list.map((one) => (
        <li>{one}</li>
      ))}
    </ul>
  )
}

/** Shows the most that could leave by it, whoever holds the key. */
export function WorstCase({ opened, now }: { opened: OpenedMandate; now: Date }) {
  const { mandate_row, daily_spending_cap_usd_micros: dailySpendingCapUsdMicros } = opened
  const { usdMicros, boundBy } = worstCase(mandateFacts(mandate_row), {
    dailySpendingCapUsdMicros,
    now,
  })
  return (
    <Section title="The worst case">
      <p>
        If everything goes wrong,{' '}
        <strong>
          at most <Cap usdMicros={usdMicros} />
        </strong>{' '}
        can leave under this mandate before it ends. What limits it:{' '}
        {boundBy.map((one) => bounds[one]).join(', and ')}.
      </p>
      <p class="hint">
        Every payment under it also counts toward your daily spending cap, and you can suspend or
        revoke it at any time.
      </p>
    </Section>
  )
}

const bounds: Record<WorstCaseBound, string> = {
  max_amount_per_payment: 'what each payment may be',
  max_amount_per_day: 'what it allows in 24 hours',
  max_total: 'what it allows in all',
  max_payments: 'how many payments it allows',
  daily_spending_cap: 'your daily spending cap',
  expiry: 'when it ends',
}

/** Shows the limits, the merchant and the requester, with chips for what is usual and what is not. */
export function MandateHeadline({ opened, now }: { opened: OpenedMandate; now: Date }) {
  const { mandate_row: mandate, asked, payees } = opened
  return (
    <>
      <div class="headline">
        <p class="figure">
          <span class="unit">up to </span>
          <Cap usdMicros={mandate.max_payment_usd_micros} /> <span class="unit">each</span>
        </p>
        <p>
          to <strong>{mandate.merchant_domain}</strong>
          {mandate.include_subdomains && ' and all its subdomains'}, without asking you each time
        </p>
        {payees.map(({ address }) => (
          <p>
            <Address value={address} />
          </p>
        ))}
        <p>
          At most {capWords(mandateFacts(mandate))}, until{' '}
          <Time at={mandate.expires_at} isInSentence />.
        </p>
        {mandate.purpose && <p>For your rule: {mandate.purpose}</p>}
        <p class="quiet">
          {mandate.by_owner ? `You created it for ${asked.title}` : `${asked.title} asked`}{' '}
          {agoOf(now.getTime(), mandate.created_at)}.
        </p>
      </div>
      <Chips opened={opened} now={now} />
    </>
  )
}

function Chips({ opened, now }: { opened: OpenedMandate; now: Date }) {
  const { mandate_row, asked, past, payees, daily_spending_cap_usd_micros: cap } = opened
  const { allowed } = backtestMandate(mandateFacts(mandate_row), past, cap, now)
  const often = allowed.payments === 1 ? 'one payment' : `${allowed.payments} payments`
  return (
    <ul class="chips">
      {allowed.payments > 0 && (
        <li class="badge good">
          Covers {often} of the last 90 days, {usdRoundedUp(allowed.usdMicros)} USD in all
        </li>
      )}
      {isNarrowed(mandate_row) && <li class="badge">You narrowed what was asked for</li>}
      {mandate_row.max_total_usd_micros === null && <li class="badge warning">No total limit</li>}
      {mandate_row.device !== '' && !asked.device_known && (
        <li class="badge warning">New device: it could pay under this mandate only</li>
      )}
      {payees.length > 0 && (
        <li class="badge warning">
          It pays the addresses it names, whoever asks: compare each whole address with what the
          merchant itself tells you
        </li>
      )}
    </ul>
  )
}

/** Warns about each named address that resembles a known recipient. */
export function ImitatedPayees({ payees }: Pick<OpenedMandate, 'payees'>) {
  return payees.map(
    ({ address, similar }) =>
      similar !== null && <LookalikeWarning known={similar} imitating={address} />,
  )
}
