/**
 * Consents and answers of a play, recorded so that outflows can be compared with them. Amounts are
 * micro-USD; times are seconds of the play's clock.
 */
import type { Outflow } from './blocks.ts'

export type Limits = { automatic: bigint; asserted: bigint; total: bigint }
type Dated = { at: number; micros: bigint }

/** An answer of account_exposure. */
export type Stated = { at: number; hours: number; micros: bigint }

/** An answer of account_freeze, with the outflows before it. */
export type Freeze = {
  at: number
  until: number
  before: readonly Outflow[]
  /** Payments that the answer named; of a permit, less may be taken. */
  named: readonly { payee: string; micros: bigint }[]
}

export type Book = {
  limits: ({ at: number } & Limits)[]
  /** Payments that the owner approved. */
  approved: Dated[]
  /** Mandates that the owner approved, with their total. */
  mandates: Dated[]
  stated: Stated[]
  freezes: Freeze[]
  /** True from the first call that freezes until the account is unfrozen. */
  isStopped: boolean
  /** Outflows that came back when their block was replaced. */
  undone: { at: number; leftAt: number; micros: bigint }[]
  /** Violations seen at once, which the next check reports. */
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

/** Returns the current limits. */
export function limitsNow({ limits }: Book): Limits {
  return limits.at(-1) ?? usual
}

/** Returns the freeze in force, if there is one. */
export function freezeNow({ freezes }: Book): Freeze | undefined {
  const last = freezes.at(-1)
  return last?.until === Number.POSITIVE_INFINITY ? last : undefined
}

/** Counts how often each key occurs. */
export function countsOf(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}
