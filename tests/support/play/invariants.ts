/**
 * Invariants that hold whatever anyone does, checked by balances and blocks. Each violation is a sentence
 * that begins with the name of the invariant, so that a shorter script can be found that breaks the same
 * one.
 */
import * as z from 'zod'
import { balanceOf, type Outflow } from './blocks.ts'
import type { Book, Freeze } from './book.ts'
import { ownerIn, type Play } from './play.ts'

const daySeconds = 86_400
/** Longest validity of a signature in seconds; no payment comes later after its decision. */
const signedSecondsMax = 15 * 60
/** Seconds of the whole minutes in which exposure counts. */
const minuteSeconds = 60

/** Returns the first violation as a sentence, or undefined. */
export async function brokenInvariant(play: Play): Promise<string | undefined> {
  const { book } = play
  const outflows = await play.outflows.read()
  return (
    book.broken[0] ??
    (await unlikeBalance(play, outflows)) ??
    overLimits(book, outflows) ??
    overExposure(book, outflows) ??
    afterFreezes(book, outflows) ??
    (await overCounted(play, outflows))
  )
}

/** Checks that the logs, from which all others are derived, add up to the whole loss of balance. */
async function unlikeBalance(play: Play, outflows: readonly Outflow[]) {
  const lost = play.funds - (await balanceOf(play.world.chain, play.thief.address))
  if (lost === sumOf(outflows)) return undefined
  return `balance: ${lost} left the wallet and its logs tell ${sumOf(outflows)}`
}

function overLimits(book: Book, outflows: readonly Outflow[]): string | undefined {
  for (const { at: end } of outflows) {
    const start = end - daySeconds
    const window = outflows.filter(({ at }) => at > start && at <= end)
    const left = sumOf(window)
    const limits = book.limits.filter(
      (_, at) => (book.limits[at + 1]?.at ?? end) >= start - signedSecondsMax,
    )
    const most = (of: 'automatic' | 'asserted' | 'total') =>
      limits.reduce((max, one) => (one[of] > max ? one[of] : max), 0n)
    if (left > most('total')) {
      return `daily cap: ${left} left within a day, and the cap is ${most('total')}`
    }
    const since = start - daySeconds
    const given = sumGiven(book.approved, since, end) + sumGiven(book.mandates, 0, end)
    const consented = most('automatic') + most('asserted') + given
    if (left > consented) {
      return `consents: ${left} left within a day, and consents let ${consented} through`
    }
  }
  return undefined
}

function overExposure(book: Book, outflows: readonly Outflow[]): string | undefined {
  for (const { at, hours, micros } of book.stated) {
    const end = at + hours * 3_600 - minuteSeconds
    const left = sumOf(outflows.filter((one) => one.at > at && one.at <= end))
    const after = sumGiven(book.approved, at, end) + sumGiven(book.mandates, at, end)
    const again = book.undone.filter((one) => one.leftAt <= at && one.at >= at)
    const most = micros + after + again.reduce((sum, one) => sum + one.micros, 0n)
    if (left > most) {
      return `exposure: ${left} left within ${hours} h of a statement of ${micros}, with ${after} consented to since`
    }
  }
  return undefined
}

/** Checks that after a freeze each payee receives no more than was named, besides what had left before. */
function afterFreezes({ freezes }: Book, outflows: readonly Outflow[]): string | undefined {
  for (const freeze of freezes) {
    const broken = afterFreeze(freeze, outflows)
    if (broken !== undefined) return broken
  }
  return undefined
}

function afterFreeze({ until, before, named }: Freeze, outflows: readonly Outflow[]) {
  const within = outflows.filter(({ at }) => at <= until)
  for (const payee of new Set(within.map(({ to }) => to))) {
    const known = before.filter(({ to }) => to === payee).map(({ value }) => value)
    const left = within.filter(({ to }) => to === payee).map(({ value }) => value)
    const late = descending(withoutEach(left, known))
    const open = descending(named.filter((one) => one.payee === payee).map(({ micros }) => micros))
    const over = late.findIndex((value, at) => value > (open[at] ?? 0n))
    if (over >= 0)
      return `frozen: ${late[over]} left to ${payee}, and ${open.join(', ')} were named`
  }
  return undefined
}

function withoutEach(values: readonly bigint[], gone: readonly bigint[]): bigint[] {
  const rest = [...values]
  for (const value of gone) {
    const at = rest.indexOf(value)
    if (at >= 0) rest.splice(at, 1)
  }
  return rest
}

function descending(values: readonly bigint[]): bigint[] {
  return values.toSorted((a, b) => (a > b ? -1 : 1))
}

const counted = z.tuple([
  z.object({
    limits: z.object({ daily_spending_cap: z.object({ spent: z.string().transform(BigInt) }) }),
  }),
])

/** Compares the total that the owner is shown with the outflows of the last day. */
async function overCounted(play: Play, outflows: readonly Outflow[]): Promise<string | undefined> {
  const now = play.clock.seconds()
  const [{ limits }] = counted.parse(await (await ownerIn(play)).call('owner_read_limits'))
  const { spent } = limits.daily_spending_cap
  const left = sumOf(outflows.filter(({ at }) => at > now - daySeconds && at <= now))
  if (spent >= left) return undefined
  return `counted: ${left} left in the last day, and ${spent} is counted`
}

function sumGiven(given: Book['approved'], after: number, until: number): bigint {
  const within = given.filter(({ at }) => at >= after && at <= until)
  return within.reduce((sum, { micros }) => sum + micros, 0n)
}

export function sumOf(outflows: readonly Outflow[]): bigint {
  return outflows.reduce((sum, { value }) => sum + value, 0n)
}
