/**
 * What a play remembers of consents and answers, so that what leaves the wallet can be held against
 * it. Micro-USD, and seconds of the play's clock.
 */
import type { Outflow } from './blocks.ts'

export type Limits = { automatic: bigint; asserted: bigint; total: bigint }
type Dated = { at: number; micros: bigint }

/** What account_exposure said. */
export type Stated = { at: number; hours: number; micros: bigint }

/** What account_freeze said, and what had left before. */
export type Freeze = {
  at: number
  until: number
  before: readonly Outflow[]
  /** What the answer named; of a permit less may be taken. */
  named: readonly { payee: string; micros: bigint }[]
}

export type Book = {
  limits: ({ at: number } & Limits)[]
  /** Payments that the owner approved. */
  approved: Dated[]
  /** Mandates that the owner gave, by what they let through in all. */
  mandates: Dated[]
  stated: Stated[]
  freezes: Freeze[]
  /** From the first call that freezes until it is unfrozen. */
  isStopped: boolean
  /** What had left the wallet and came back when its block was replaced. */
  undone: { at: number; leftAt: number; micros: bigint }[]
  /** What was seen at once and is told with the next look. */
  broken: string[]
}

const usual: Limits = { automatic: 200_000_000n, asserted: 200_000_000n, total: 1_000_000_000n }

export function openBook(at: number): Book {
  const limits = [{ at, ...usual }]
  return {
    limits,
    approved: [],
    mandates: [],
    stated: [],
    freezes: [],
    isStopped: false,
    undone: [],
    broken: [],
  }
}

/** The limits that stand last. */
export function limitsNow({ limits }: Book): Limits {
  return limits.at(-1) ?? usual
}

/** The freeze that stands, if one does. */
export function freezeNow({ freezes }: Book): Freeze | undefined {
  const last = freezes.at(-1)
  return last?.until === Number.POSITIVE_INFINITY ? last : undefined
}

/** How many of each there are. */
export function countsOf(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}
