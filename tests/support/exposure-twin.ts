/**
 * A thief with a key who is also every merchant and payee. The twin computes how much the thief moves in a
 * story with each way of paying, with the product's own decision for each payment.
 */
import fc from 'fast-check'
import { decide } from '../../shared/policy/decide.ts'
import type { ExposedMandate, ExposureFacts } from '../../shared/policy/exposure.ts'
import { mandate, noon, purchase } from './policy.ts'

const day = 1440

/** Consent with which a payment is tried; a number is the index of a mandate. */
export type Way = 'none' | 'agent_asserted' | 'approved' | number
type Level = Way | 'user_session'
/** An open payment, or a spending at the later of its authorization and its settlement. */
type Open = { way: Level; usd: bigint; isOwn: boolean }
type Spend = Open & { minute: number }
/** A spending in the story, and the index of the unknown address it went to, if any. */
type Played = Spend & { stranger: number | null }
type Approval = { usd: bigint; expiresInMinutes: number }
export type Story = {
  facts: ExposureFacts
  known: { recipient: boolean; device: boolean }
  settled: Spend[]
  open: Open[]
  approvals: Approval[]
}
/** Outcome of an open payment, and its minute. */
export type Ending = { ends: 'executed' | 'released' | 'open'; minute: number }

// Coarse times, so that windows of several days are walked in a moment.
const tick = 120
export const horizons = [tick, 12 * tick, 17 * tick, 7 * 12 * tick]

const few = fc.bigInt({ min: 0n, max: 6n })
const amount = fc.bigInt({ min: 1n, max: 4n })
const ticks = (max: number) => fc.integer({ min: 1, max }).map((count) => count * tick)
const level = fc.constantFrom<Level[]>('none', 'agent_asserted', 'user_session', 0, 1)

type Mandate = Omit<ExposedMandate, 'leaving' | 'regainedUsdMicros' | 'openUsdMicros'>

function storyWith(mandates: fc.Arbitrary<Mandate[]>, approvals: fc.Arbitrary<Approval[]>) {
  return fc
    .record({
      limits: fc.record({
        automatic: few,
        asserted: few,
        assertedNewRecipient: few,
        total: few,
        month: fc.bigInt({ min: 0n, max: 20n }),
      }),
      caps: fc.record({ payment: fc.option(few), day: fc.option(few) }),
      known: fc.record({ recipient: fc.boolean(), device: fc.boolean() }),
      frozen: fc.constantFrom(false, false, false, true),
      canPay: fc.constantFrom(true, true, true, false),
      expiresInMinutes: fc.option(ticks(60)),
      mandates,
      approvals,
      settled: fc.array(
        fc.record({
          minute: ticks(12).map((minutes) => minutes - day),
          way: level,
          usd: amount,
          isOwn: fc.boolean(),
        }),
        { maxLength: 6 },
      ),
      open: fc.array(fc.record({ way: level, usd: amount, isOwn: fc.boolean() }), { maxLength: 3 }),
    })
    .map(({ known, settled, open, approvals: asked, ...rest }): Story => {
      const { payment } = rest.caps
      const payable = asked.filter((one) => payment === null || one.usd <= payment)
      const facts = {
        ...rest,
        recipientKnown: known.recipient,
        deviceKnown: known.device,
        open: sumsOf(open),
        leaving: settled.flatMap((one) => [
          { minutes: one.minute + day, ...sumsOf([one]), month: 0n },
          { minutes: one.minute + 30 * day, ...sumsOf([]), month: one.usd },
        ]),
        approved: payable.map(({ usd, ...one }) => ({
          ...one,
          eachUsdMicros: usd,
          usdMicros: usd,
        })),
        mandates: rest.mandates.map((one, at) => exposed(one, at, settled, open, payment)),
      }
      return { facts, known, settled, open, approvals: payable }
    })
}

function exposed(
  one: Mandate,
  at: number,
  settled: Spend[],
  open: Open[],
  cap: bigint | null,
): ExposedMandate {
  const under = open.filter(({ way }) => way === at)
  const each = cap !== null && cap < one.maxPaymentUsdMicros ? cap : one.maxPaymentUsdMicros
  return {
    ...one,
    regainedUsdMicros: sum(under.map(({ usd }) => ({ usd: usd < each ? each - usd : 0n }))),
    openUsdMicros: sum(under),
    leaving: [
      ...settled
        .filter(({ way }) => way === at)
        .map(({ minute, usd }) => ({ minutes: minute + day, usdMicros: usd })),
      ...under.map(({ usd }) => ({ minutes: day, usdMicros: usd })),
    ],
  }
}

const plain = fc.record({
  expiresInMinutes: fc.constant(90 * day),
  maxPaymentUsdMicros: few.map((one) => one + 1n),
  maxDayUsdMicros: fc.option(few),
  leftTotalUsdMicros: fc.option(fc.bigInt({ min: 0n, max: 20n })),
  leftPayments: fc.constant(null),
})
const bounded = fc.record({
  expiresInMinutes: ticks(90),
  maxPaymentUsdMicros: few.map((one) => one + 1n),
  maxDayUsdMicros: fc.option(few),
  leftTotalUsdMicros: fc.option(fc.bigInt({ min: 0n, max: 20n })),
  leftPayments: fc.option(fc.nat({ max: 9 })),
})
const small = fc.record({
  usd: fc.constant(1n),
  expiresInMinutes: fc.constant(90 * day),
})
const large = fc.record({ usd: amount, expiresInMinutes: ticks(90) })

/** Stories in which the figure is exact, and stories in which it is a bound. */
export const stories = {
  exact: storyWith(fc.array(plain, { maxLength: 1 }), fc.array(small, { maxLength: 5 })),
  any: storyWith(fc.array(bounded, { maxLength: 2 }), fc.array(large, { maxLength: 4 })),
}

/** Returns every combination in which each open payment is executed or released at once. */
export function endingsOf(open: readonly Open[]): Ending[][] {
  return open.reduce<Ending[][]>(
    (all) =>
      all.flatMap((endings) => [
        [...endings, { ends: 'executed' as const, minute: 0 }],
        [...endings, { ends: 'released' as const, minute: 0 }],
      ]),
    [[]],
  )
}

/** Returns the ways to pay in one tick, with approved payments last or one of them first. */
export function everything(isApprovedFirst: boolean): Way[] {
  const ways = (['agent_asserted', 'none', 0, 'approved'] as const).flatMap((way) =>
    Array<Way>(7).fill(way),
  )
  return isApprovedFirst ? ['approved', ...ways] : ways
}

const sum = (spends: readonly { usd: bigint }[]) =>
  spends.reduce((total, { usd }) => total + usd, 0n)
const timeAt = (minute: number) => new Date(noon.getTime() + minute * 60_000)

function sumsOf(spends: readonly Open[]) {
  return {
    automatic: sum(spends.filter(({ way }) => way === 'none')),
    asserted: sum(spends.filter(({ way }) => way === 'agent_asserted')),
    total: sum(spends),
    month: sum(spends),
    own: sum(spends.filter(({ isOwn }) => isOwn)),
  }
}

type Books = { open: Played[]; fresh: Played[]; approvals: Approval[] }

/** Pays unit by unit, and approved payments in full. `tries` gives the ways to pay in each tick. */
export function play(
  given: Story,
  endings: readonly Ending[],
  horizon: number,
  tries: (minute: number) => Way[],
): bigint {
  const books: Books = { open: [], fresh: [], approvals: [...given.approvals] }
  for (let minute = 0; minute < horizon; minute += tick) {
    books.open = openAt(given, endings, minute)
    for (const way of tries(minute)) pay(given, books, minute, way)
  }
  const executed = openAt(given, endings, horizon - 1).filter((one) => one.minute < horizon)
  return sum(books.fresh) + sum(executed)
}

/** Returns the open payments at a time. One counts at any age, and after its execution for one more day. */
function openAt({ open }: Story, endings: readonly Ending[], now: number): Played[] {
  return open.flatMap((one, at) => {
    const { ends, minute } = endings[at] ?? { ends: 'open', minute: 0 }
    if (ends === 'open' || minute > now) return [{ ...one, minute: Infinity, stranger: null }]
    return ends === 'executed' ? [{ ...one, minute, stranger: null }] : []
  })
}

function pay(given: Story, books: Books, minute: number, way: Way): void {
  if (way !== 'approved') {
    // Each payment goes to a new address if the owner knows no recipient.
    const stranger = given.known.recipient ? null : books.fresh.length
    if (passes(given, books, minute, way, 1n, stranger)) {
      books.fresh.push({ minute, way, usd: 1n, isOwn: true, stranger })
    }
    return
  }
  const paid = books.approvals.find(
    (one) =>
      minute < one.expiresInMinutes && passes(given, books, minute, 'user_session', one.usd, null),
  )
  if (!paid) return
  books.approvals.splice(books.approvals.indexOf(paid), 1)
  books.fresh.push({ minute, way: 'user_session', usd: paid.usd, isOwn: true, stranger: null })
}

/** Decides whether an amount passes at this level and minute, by the product's own policy. */
function passes(
  given: Story,
  books: Books,
  minute: number,
  way: Level,
  usd: bigint,
  stranger: number | null,
): boolean {
  const { facts, known, settled } = given
  const { limits, caps, frozen, canPay, expiresInMinutes } = facts
  if (frozen || !canPay || minute >= (expiresInMinutes ?? Infinity)) return false
  const played = [...books.open, ...books.fresh]
  const counted = [...settled, ...played].filter((spend) => spend.minute > minute - day)
  const window = (limit: bigint, only?: Level) => ({
    limit,
    spent: sum(counted.filter((spend) => only === undefined || spend.way === only)),
    resetsAt: null,
  })
  const own = sum(counted.filter(({ isOwn }) => isOwn))
  const decision = decide({
    ...purchase,
    host: typeof way === 'number' ? `m${way}.example.com` : 'other.example.org',
    amountUsdMicros: usd,
    automaticDaily: window(limits.automatic, 'none'),
    assertedDaily: window(limits.asserted, 'agent_asserted'),
    dailySpendingCap: window(limits.total),
    monthlySpendingCap: { ...window(limits.month), spent: sum([...settled, ...played]) },
    credentialPaymentCap: caps.payment,
    credentialDaily: caps.day === null ? null : { ...window(caps.day), spent: own },
    assertedNewRecipient: {
      ...window(limits.assertedNewRecipient),
      spent: sum(
        books.fresh.filter(
          (one) =>
            one.way === 'agent_asserted' && one.stranger === stranger && one.minute > minute - day,
        ),
      ),
    },
    recipientKnown: stranger === null && known.recipient,
    deviceKnown: known.device,
    userConfirmed: way === 'agent_asserted' || way === 'user_session',
    ownerApproved: way === 'user_session' ? 'user_session' : null,
    mandates: facts.mandates.map((one, at) => mandateAt(one, at, given, played, counted)),
    now: timeAt(minute),
  })
  return 'consentLevel' in decision && (decision.mandateId ?? decision.consentLevel) === `${way}`
}

/**
 * Returns a mandate with its use so far. The facts state what is left after everything open, which is added
 * back here.
 */
function mandateAt(
  one: ExposedMandate,
  at: number,
  { open }: Story,
  played: readonly Spend[],
  counted: readonly Spend[],
) {
  const isUnder = ({ way }: Open) => way === at
  const under = open.filter(isUnder)
  const { leftTotalUsdMicros: left, leftPayments } = one
  return {
    ...mandate,
    id: String(at),
    merchantDomain: `m${at}.example.com`,
    maxPaymentUsdMicros: one.maxPaymentUsdMicros,
    maxDayUsdMicros: one.maxDayUsdMicros,
    maxTotalUsdMicros: left === null ? null : left + sum(under),
    maxPayments: leftPayments === null ? null : leftPayments + under.length,
    expiresAt: timeAt(one.expiresInMinutes),
    spentDayUsdMicros: sum(counted.filter(isUnder)),
    spentTotalUsdMicros: sum(played.filter(isUnder)),
    payments: played.filter(isUnder).length,
  }
}
