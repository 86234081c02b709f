/**
 * What a mandate would have done, and the most that it can do: what the owner is shown before
 * approving it. Pure. The past is replayed as if the mandate had been active in it, alone, with the
 * device known and each challenge heard by the service, for none of that is kept.
 */
import type { CoverRequest, Mandate, MandateReason, MandateTerms } from './mandate.ts'
import { concerns, coverOf } from './mandate.ts'
import type { History } from './memory.ts'

/** A payment of the account as it was; `at` is when it was entered. */
export type PastPayment = Pick<
  CoverRequest,
  'kind' | 'amountUsdMicros' | 'host' | 'chain' | 'token' | 'payTo'
> & {
  at: Date
  /** What was bought, as private.payments.resource has it; null for a transfer. */
  resource: string | null
  state:
    | 'prepared'
    | 'awaiting_confirmation'
    | 'authorized'
    | 'signed'
    | 'unknown'
    | 'settled'
    | 'released'
    | 'expired'
    | 'declined'
}

/** Allowed with nobody asked, asked about as without a mandate, or over the account's daily cap. */
export type Verdict = 'allowed' | 'asked' | 'refused'
/** One past payment of this merchant or payee; the reasons are those for asking. */
export type Rehearsed = { payment: PastPayment; verdict: Verdict; reasons: MandateReason[] }
/** How many payments, and what they come to in micro-USD. */
export type Tally = { payments: number; usdMicros: bigint }
/** In the order of time. */
export type Rehearsal = { payments: Rehearsed[] } & Record<Verdict, Tally>

const dayMilliseconds = 86_400_000
const pastMilliseconds = 90 * dayMilliseconds
/** What memory goes by: the last settled payments of a resource. */
const rememberedMax = 20

/**
 * Replays the last 90 days of the account. Payments that were released moved nothing and
 * are left out; one that nobody confirmed, or that the owner declined, is paid if it is allowed.
 */
export function rehearse(
  terms: Omit<MandateTerms, 'expiresAt'>,
  past: readonly PastPayment[],
  dailySpendingCapUsdMicros: bigint,
  now: Date,
): Rehearsal {
  const account = rollingDay()
  const used = { day: rollingDay(), totalUsdMicros: 0n, payments: 0 }
  const settled = new Map<string, PastPayment[]>()
  const payments: Rehearsed[] = []
  for (const payment of inOrder(past, now)) {
    const { at, amountUsdMicros, resource } = payment
    const bought = resource === null ? undefined : settled.get(resource)
    const judged = judge(payment, mandateAt(at, terms, used), historyOf(bought ?? []))
    const isOver = account.spentAt(at) + amountUsdMicros > dailySpendingCapUsdMicros
    const done = judged && isOver ? refused(payment) : judged
    if (done) payments.push(done)
    if (done?.verdict === 'allowed') {
      used.day.add(at, amountUsdMicros)
      used.totalUsdMicros += amountUsdMicros
      used.payments += 1
    }
    const isPaid = done?.verdict === 'allowed' || (done?.verdict !== 'refused' && hasMoved(payment))
    if (isPaid) account.add(at, amountUsdMicros)
    if (resource !== null && payment.state === 'settled') {
      settled.set(resource, [...(bought ?? []), payment].slice(-rememberedMax))
    }
  }
  const tally = (verdict: Verdict) => tallyOf(payments.filter((one) => one.verdict === verdict))
  return { payments, allowed: tally('allowed'), asked: tally('asked'), refused: tally('refused') }
}

function inOrder(past: readonly PastPayment[], now: Date): PastPayment[] {
  const since = now.getTime() - pastMilliseconds
  return past
    .filter(({ at }) => at.getTime() > since && at <= now)
    .filter(({ state }) => state !== 'released')
    .toSorted((a, b) => a.at.getTime() - b.at.getTime())
}

function hasMoved({ state }: PastPayment): boolean {
  return ['authorized', 'signed', 'unknown', 'settled'].includes(state)
}

/** Undefined for a payment that has nothing to do with the mandate. */
function judge(payment: PastPayment, mandate: Mandate, history: History): Rehearsed | undefined {
  if (!concerns(mandate, payment)) return undefined
  const trusted = { heard: true, otherResource: false, deviceKnown: true, similarRecipient: null }
  const cover = coverOf(mandate, { ...payment, ...trusted, history }, payment.at)
  return cover.covers
    ? { payment, verdict: 'allowed', reasons: [] }
    : { payment, verdict: 'asked', reasons: cover.reasons }
}

/** The cap comes before any mandate, so no rule of it is a reason. */
function refused(payment: PastPayment): Rehearsed {
  return { payment, verdict: 'refused', reasons: [] }
}

type Used = { day: ReturnType<typeof rollingDay>; totalUsdMicros: bigint; payments: number }

function mandateAt(at: Date, terms: Omit<MandateTerms, 'expiresAt'>, used: Used): Mandate {
  return {
    ...terms,
    id: '',
    state: 'active',
    payer: 'asker',
    expiresAt: new Date(at.getTime() + 1),
    spentDayUsdMicros: used.day.spentAt(at),
    spentTotalUsdMicros: used.totalUsdMicros,
    payments: used.payments,
    dayResetsAt: used.day.resetsAt(),
  }
}

/** What was spent in the 24 hours that end with a time; times never go back. */
function rollingDay() {
  const counted: { at: number; usdMicros: bigint }[] = []
  let sum = 0n
  return {
    add(at: Date, usdMicros: bigint) {
      counted.push({ at: at.getTime(), usdMicros })
      sum += usdMicros
    },
    spentAt(at: Date): bigint {
      for (
        let [oldest] = counted;
        oldest && oldest.at <= at.getTime() - dayMilliseconds;
        [oldest] = counted
      ) {
        sum -= oldest.usdMicros
        counted.shift()
      }
      return sum
    },
    resetsAt: () => (counted[0] ? new Date(counted[0].at + dayMilliseconds) : null),
  }
}

function historyOf(bought: readonly PastPayment[]): History {
  const prices = bought.map(({ amountUsdMicros }) => amountUsdMicros)
  const sorted = prices.toSorted((a, b) => (a < b ? -1 : 1))
  return {
    payees: bought.map(({ payTo }) => payTo),
    assets: bought.map(({ chain, token }) => ({ chain, token })),
    lowestUsdMicros: sorted[0] ?? null,
    highestUsdMicros: sorted.at(-1) ?? null,
  }
}

function tallyOf(some: readonly Rehearsed[]): Tally {
  const usdMicros = some.reduce((sum, { payment }) => sum + payment.amountUsdMicros, 0n)
  return { payments: some.length, usdMicros }
}
