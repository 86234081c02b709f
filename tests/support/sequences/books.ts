/**
 * Computes what an account may have paid from the owner's notes and the stated limits. That is compared
 * with the rows, and the rows with custody's signatures.
 */
import * as z from 'zod'
import { agree } from '../model/house.ts'
import type { Account, NotedMandate, OwnersBook } from './street.ts'

const paidRow = z.object({
  id: z.uuid(),
  kind: z.enum(['transfer', 'x402']),
  level: z.enum(['none', 'mandate', 'agent_asserted', 'user_session', 'user_passkey']),
  mandate: z.uuid().nullable(),
  payee: z.string(),
  atomic: z.string().transform(BigInt),
  usd: z.string().transform(BigInt),
  origin: z.string().nullable(),
  nonce: z.string().nullable(),
  counts: z.boolean(),
  at: z.coerce.date().transform(Number),
  settled_at: z.coerce.date().transform(Number).nullable(),
})
type Paid = z.output<typeof paidRow>

const usd = (amount: bigint) => amount * 1_000_000n
const limits = { none: usd(200n), agent_asserted: usd(200n), newPayee: usd(10n), cap: usd(1_000n) }
const dayMilliseconds = 86_400_000

/** Throws if a signature exists that neither a limit nor the owner's consent permits. */
export async function confirmBooks(account: Account): Promise<number> {
  const paid = await paidBy(account)
  confirmSignatures(account, paid)
  for (const one of paid) confirmOne(account, paid, one)
  const counted = paid.filter(({ counts }) => counts)
  confirmWindows('everything', counted, limits.cap)
  for (const level of ['none', 'agent_asserted'] as const) {
    confirmWindows(level, atLevel(counted, level), limits[level])
  }
  for (const [id, mandate] of account.book.mandates) {
    confirmMandate(
      mandate,
      counted.filter((one) => one.mandate === id),
    )
  }
  return paid.length
}

const atLevel = (paid: Paid[], level: Paid['level']) => paid.filter((one) => one.level === level)

/** Returns everything that was ever authorized, oldest first. */
async function paidBy({ street, agents: [agent] }: Account): Promise<Paid[]> {
  const rows = await street.market.db.sql`
    select id, kind, consent_level as level, mandate, payee, amount_atomic::text as atomic,
      amount_usd_micros::text as usd, terms ->> 'origin' as origin, authorization_nonce as nonce,
      state in ('signed', 'settled')
        or state = 'authorized' and counts_until > private.clock() as counts, authorized_at as at,
      settled_at
    from private.payments where account = ${agent.id} and authorized_at is not null
    order by authorized_at, id`
  return z.array(paidRow).parse([...rows])
}

/** Checks that custody's signatures and the signed rows are the same, by nonce, payee and amount. */
function confirmSignatures({ street, agents: [agent] }: Account, paid: Paid[]): void {
  const told = street.signatures.of(agent.address).map(({ nonce, to, value }) => {
    return [nonce, to, value.toString()]
  })
  const booked = paid.flatMap(({ nonce, payee, atomic }) =>
    nonce === null ? [] : [[nonce, payee, atomic.toString()]],
  )
  agree('what custody gave out', told.toSorted(byNonce), booked.toSorted(byNonce))
}

const byNonce = ([a = '']: string[], [b = '']: string[]) => (a < b ? -1 : 1)

function confirmOne({ book }: Account, paid: Paid[], one: Paid): void {
  switch (one.level) {
    case 'none':
      must(isKnown(book, one), one, 'went to somebody new with nobody asked')
      break
    case 'agent_asserted':
      must(
        isKnown(book, one) || assertedTo(paid, one) <= limits.newPayee,
        one,
        'is much for a new payee',
      )
      break
    case 'mandate':
      must(book.mandates.has(one.mandate ?? ''), one, 'is under a mandate that nobody gave')
      break
    case 'user_session':
    case 'user_passkey': {
      const shown = book.payments.get(one.id)
      const isShown = shown?.payee === one.payee && shown.atomic === one.atomic
      must(isShown, one, 'is not what the owner approved')
    }
  }
}

/** True if the owner itself made the payee known. */
const isKnown = ({ known }: OwnersBook, one: Paid) => known.includes(one.payee)

/** Returns the agent-asserted amount to the same address that counts when this payment was authorized. */
function assertedTo(paid: Paid[], { payee, at }: Paid): bigint {
  const dayBefore = at - dayMilliseconds
  return atLevel(paid, 'agent_asserted')
    .filter((one) => one.payee === payee && one.counts && one.at <= at)
    .filter((one) => one.at > dayBefore)
    .reduce((sum, { usd }) => sum + usd, 0n)
}

function confirmMandate(mandate: NotedMandate, paid: Paid[]): void {
  const { domain, subdomains, payTo, perPayment, perDay, inAll, payments } = mandate
  for (const one of paid) {
    must(one.usd <= perPayment, one, 'is more than the mandate lets one payment be')
    must(one.at >= mandate.from && one.at < mandate.until, one, 'is out of the time of its mandate')
    const isPinned = payTo?.includes(one.payee) ?? false
    must(payTo === null || isPinned, one, 'went to whom the mandate does not name')
    const host = one.origin === null ? '' : new URL(one.origin).host
    const isHost = [host, host.replace(/:\d+$/, '')].includes(domain)
    const isMerchant = isHost || (subdomains && host.endsWith(`.${domain}`))
    must(one.kind === 'transfer' ? isPinned : isMerchant, one, 'is not of the mandate')
  }
  if (perDay !== null) confirmWindows('a day of a mandate', paid, perDay)
  if (inAll !== null && sumOf(paid) > inAll) throw new Error(`${sumOf(paid)} of ${inAll} in all`)
  if (payments !== null && paid.length > payments) {
    throw new Error(`${paid.length} payments of ${payments} under a mandate`)
  }
}

const sumOf = (paid: Paid[]) => paid.reduce((sum, one) => sum + one.usd, 0n)

function confirmWindows(what: string, paid: Paid[], limit: bigint): void {
  for (const { at } of paid) {
    const within = paid.filter((other) => other.at <= at && other.at > at - dayMilliseconds)
    const used = sumOf(within)
    if (used > limit) throw new Error(`${what}: ${used} of ${limit} within a day`)
  }
}

function must(holds: boolean, { id, usd: micros, payee }: Paid, what: string): void {
  if (!holds) throw new Error(`the payment ${id} of ${micros} to ${payee} ${what}`)
}
