/**
 * What a lossy endpoint does to requests, and to which. Each rule draws from a stream of its own, so
 * what it strikes depends on the seed and on how often it was asked, not on other traffic.
 */
import { fractions } from '../random.ts'

/** What happens to a request as a whole, or to the answers of a node that is believed. */
export type Rule = (Fault | Lie) & {
  /** JSON-RPC methods that it strikes; all when absent. A batch is struck if one of its calls is. */
  methods?: readonly string[]
  /** Of those, how many in one; each when absent. */
  share?: number
}

export type Fault =
  /** The socket is cut before the node hears of it. */
  | { kind: 'drop' }
  /** The socket is cut after the node acted. */
  | { kind: 'lose' }
  /** A status in place of the answer, and whether the node acted before. */
  | { kind: 'status'; status: number; acted?: boolean; retryAfterSeconds?: number }
  | { kind: 'delay'; milliseconds: number }
  /** The node gets the request twice; the second answer is passed on. */
  | { kind: 'duplicate' }
  /** The answer waits until another one has passed it. */
  | { kind: 'hold' }

export type Lie =
  /** Answers as of so many blocks ago. */
  | { kind: 'lag'; blocks: number }
  /** Adds to what eth_getTransactionCount answers. */
  | { kind: 'miscount'; by: number }
  /** No receipt is known. */
  | { kind: 'no_receipts' }

export type Kind = Rule['kind']

/** Decides for each request; a rule later in the list acts on what those before it left. */
export type Plan = (methods: readonly string[]) => Rule[]

/** The rules that strike, in their order. */
export function planFrom(rules: readonly Rule[], seed: number): Plan {
  const armed = rules.map((rule, index) => ({ rule, random: fractions(seed * 31 + index) }))
  return (methods) =>
    armed.flatMap(({ rule, random }) => {
      const isMeant = rule.methods?.some((method) => methods.includes(method)) ?? true
      return isMeant && random() < (rule.share ?? 1) ? [rule] : []
    })
}
