/**
 * Invariants of mandates that hold at all times. Caps are counted from the payments. Whether every payment
 * had the owner's consent is read from the rows and the feed, independently of the twin.
 */
import type { House } from './house.ts'
import { agree } from './house.ts'
import { didCount } from './invariants.ts'
import { mandateWire } from './mandate-wire.ts'
import { countedUnder } from './mandates.ts'
import type { Mandate, Payment } from './state.ts'

/** Throws if mandates, approvals, or the number of known recipients and devices differ from the twin's. */
export async function confirmMandateRows(house: House): Promise<void> {
  const { twin, ledger } = house
  const [rows = {}] = await ledger.query(`select
    (select coalesce(jsonb_object_agg(m.id, private.mandate_json(m) - 'number'), '{}')
       from private.mandates m) as mandates,
    (select coalesce(jsonb_object_agg(o.payment, jsonb_build_array(o.decision, o.digest)), '{}')
       from private.approvals o) as approvals,
    (select count(*)::integer from private.known_recipients) as recipients,
    (select count(*)::integer from private.known_devices) as devices`)
  const wanted = twin.mandates.map((mandate) => [mandate.id, mandateWire(twin, mandate)])
  agree('mandates', rows['mandates'], Object.fromEntries(wanted))
  const approvals = twin.payments.flatMap(({ id, approval }) =>
    approval ? [[id, [approval.decision, approval.digest]]] : [],
  )
  agree('approvals', rows['approvals'], Object.fromEntries(approvals))
  const known = (what: 'recipients' | 'devices') =>
    twin.accounts.reduce((sum, account) => sum + account[what].size, 0)
  agree('recipients', rows['recipients'], known('recipients'))
  agree('devices', rows['devices'], known('devices'))
}

/** Checks that each payment under a mandate has consent to the mandate's terms, in force at that moment. */
export async function confirmConsent({ ledger }: House): Promise<void> {
  const unconsented = await ledger.query(`select p.id from private.payments p
    join private.mandates m on m.id = p.mandate left join private.consents c on c.id = m.consent
    where m.account <> p.account or c.account is distinct from p.account
      or c.digest is distinct from private.mandate_digest(m)
      or p.authorized_at < c.decided_at or p.authorized_at >= m.expires_at
      or p.authorized_at > m.revoked_at`)
  agree('payments without consent', unconsented, [])
  // The feed orders events that happened within the same second.
  const late = await ledger.query(`select x.payment from private.activities x
    join private.payments p on p.id = x.payment and p.mandate is not null
    where x.id = (select max(l.id) from private.activities l where l.payment = p.id
        and l.type in ('transfer_authorized', 'x402_authorized')) and coalesce((
      select a.type from private.activities a where a.mandate = p.mandate and a.id < x.id
         and a.type <> 'mandate_requested'
       order by a.id desc limit 1), '') not in ('mandate_approved', 'mandate_resumed')`)
  agree('payments while a mandate was not in force', late, [])
}

/**
 * Checks the use of each mandate against its caps: each payment, the total, the number, and the day before
 * each authorization. Payments released since only make the sums smaller.
 */
export function confirmCaps({ twin }: House): void {
  for (const mandate of twin.mandates) {
    const counted = countedUnder(twin, mandate)
    const { payment, day, total, payments } = mandate.caps
    for (const one of counted) {
      bound(mandate, 'one', one.usd, payment)
      bound(mandate, 'day', sumOf(dayBefore(counted, one)), day)
    }
    bound(mandate, 'all', sumOf(counted), total)
    bound(mandate, 'number', BigInt(counted.length), payments === null ? null : BigInt(payments))
  }
}

function dayBefore(payments: Payment[], { authorizedAt }: Payment): Payment[] {
  return payments.filter((other) => didCount(other, authorizedAt ?? 0))
}

const sumOf = (payments: Payment[]) => payments.reduce((sum, { usd }) => sum + usd, 0n)

function bound({ id }: Mandate, what: string, used: bigint, cap: bigint | null): void {
  if (cap !== null && used > cap) throw new Error(`${id}: ${what} is ${used}, more than ${cap}`)
}
