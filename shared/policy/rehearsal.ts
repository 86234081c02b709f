/**
 * The rehearsal of a mandate: what it would have done, shown to the owner before approval. Pure. It replays
 * the past as if only this mandate had been active, the device known and each challenge verified
 * with its merchant, because these facts are not stored.
 */
import {
  type CoverRequest,
  concerns,
  coverOf,
  type Mandate,
  type MandateReason,
  type MandateTerms,
} from './mandate.ts'
import type { PaidPlaces } from './memory.ts'

/** A past payment of the account; `at` is the time when it was entered. */
export type PastPayment = Pick<
  CoverRequest,
  'kind' | 'amountUsdMicros' | 'host' | 'chain' | 'token' | 'payTo'
> & {
  at: Date
  /** The bought resource, as in private.payments.resource; null for a transfer. */
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

/** Allowed without asking, asked about as without a mandate, or over the account's daily cap. */
export type Verdict = 'allowed' | 'asked' | 'refused'
/** One past payment of this merchant or payee; the reasons are those for asking. */
export type BacktestedPayment = { payment: PastPayment; verdict: Verdict; reasons: MandateReason[] }
/** Number of payments, and their sum in micro-USD. */
export type Tally = { payments: number; usdMicros: bigint }
/** Backtested payments in the order of time, and the tally of each verdict. */
export type Backtest = { payments: BacktestedPayment[] } & Record<Verdict, Tally>

const dayMilliseconds = 86_400_000
const pastMilliseconds = 90 * dayMilliseconds
/** Number of settled payments of a resource that memory uses. */
const rememberedMax = 20

/**
 * Replays the last 90 days of the account. Released payments moved nothing and are left out. A payment that
 * nobody confirmed, or that the owner declined, counts as paid if the mandate allows it.
 */
export function backtestMandate(
  terms: Omit<MandateTerms, 'expiresAt'>,
  past: readonly PastPayment[],
  dailySpendingCapUsdMicros: bigint,
  now: Date,
): Backtest {
  const account = rollingDay()
  const used = { day: rollingDay(), totalUsdMicros: 0n, payments: 0 }
  const settled = new Map<string, PastPayment[]>()
  const payments: BacktestedPayment[] = []
  for (const payment of recentInOrder(past, now)) {
    const { at, amountUsdMicros, resource } = payment
    const bought = resource === null ? undefined : settled.get(resource)
    const judged = judgePayment(payment, mandateAt(at, terms, used), historyOf(bought ?? []))
    const isOver = account.spentAt(at) + amountUsdMicros > dailySpendingCapUsdMicros
    const done = judged && isOver ? refusedPayment(payment) : judged
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

function recentInOrder(past: readonly PastPayment[], now: Date): PastPayment[] {
  const since = now.getTime() - pastMilliseconds
  return past
    .filter(({ at }) => at.getTime() > since && at <= now)
    .filter(({ state }) => state !== 'released')
    .toSorted((a, b) => a.at.getTime() - b.at.getTime())
}

function hasMoved({ state }: PastPayment): boolean {
  return ['authorized', 'signed', 'unknown', 'settled'].includes(state)
}

/** Judges one payment; returns undefined if the mandate does not concern it. */
function judgePayment(
  payment: PastPayment,
  mandate: Mandate,
  history: PaidPlaces,
): BacktestedPayment | undefined {
  if (!concerns(mandate, payment)) return undefined
  const trusted = {
    verifiedWithMerchant: true,
    otherResource: false,
    deviceKnown: true,
    similarRecipient: null,
  }
  const cover = coverOf(mandate, { ...payment, ...trusted, history }, payment.at)
  return cover.covers
    ? { payment, verdict: 'allowed', reasons: [] }
    : { payment, verdict: 'asked', reasons: cover.reasons }
}

/** Returns a refusal without reasons: the daily cap is checked before any mandate. */
function refusedPayment(payment: PastPayment): BacktestedPayment {
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

/** Makes a sum over the 24 hours that end with a time; times must not go back. */
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

function historyOf(bought: readonly PastPayment[]): PaidPlaces {
  return {
    payees: bought.map(({ payTo }) => payTo),
    assets: bought.map(({ chain, token }) => ({ chain, token })),
  }
}

function tallyOf(some: readonly BacktestedPayment[]): Tally {
  const usdMicros = some.reduce((sum, { payment }) => sum + payment.amountUsdMicros, 0n)
  return { payments: some.length, usdMicros }
}
