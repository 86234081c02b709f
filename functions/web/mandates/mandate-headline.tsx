/** The first lines of a mandate that waits: what may be paid to whom, who asks, and what is unusual about it. */
import { mandateFacts } from '../../../shared/mandates/mandate-row.ts'
import { capWords } from '../../../shared/mandates/words.ts'
import { backtestMandate } from '../../../shared/policy/rehearsal.ts'
import { agoOf } from '../ui/ago.ts'
import { LookalikeWarning } from '../ui/imitation.tsx'
import { Address, Time } from '../ui/show.tsx'
import { usdRoundedUp } from '../ui/usd.ts'
import { Cap, isNarrowed } from './mandate-terms.tsx'
import type { OpenedMandate } from './mandates-data.ts'

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
          {mandate.include_subdomains && ' and every host below it'}, without asking you each time
        </p>
        {payees.map(({ address }) => (
          <p>
            <Address value={address} />
          </p>
        ))}
        <p>
          At most {capWords(mandateFacts(mandate))}, until <Time at={mandate.expires_at} />.
        </p>
        {mandate.purpose && <p>For your rule: {mandate.purpose}</p>}
        <p class="quiet">
          {mandate.by_owner ? `You made it for ${asked.title}` : `${asked.title} asked`}{' '}
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
      {!asked.device_known && (
        <li class="badge warning">New device: it could pay under this mandate alone</li>
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
