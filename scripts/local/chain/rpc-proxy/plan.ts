/**
 * Decides which requests a faulty endpoint strikes, and how. Each rule draws from a random stream of its
 * own, so its choice depends on the seed and on how often it was asked, not on other traffic.
 */
import { fractions } from '../../random.ts'

/** A fault of a request as a whole, or a lie in the answers of a node, and the requests that it strikes. */
export type Rule = (Fault | Lie) & {
  /** JSON-RPC methods that it strikes; all if absent. A batch is struck if one of its calls is. */
  methods?: readonly string[]
  /** Share of those that it strikes, from 0 to 1; all if absent. */
  share?: number
}

/** A fault that strikes a whole request. */
export type Fault =
  /** Cuts the socket before the node gets the request. */
  | { kind: 'drop' }
  /** Cuts the socket after the node has acted. */
  | { kind: 'lose' }
  /** Answers with a status; `acted` says that the node acts first. */
  | { kind: 'status'; status: number; acted?: boolean; retryAfterSeconds?: number }
  /** Never answers, after the node has acted. */
  | { kind: 'silence' }
  /** Sends the request to the node twice and passes on the second answer. */
  | { kind: 'duplicate' }
  /** Holds the answer back until another one has passed it. */
  | { kind: 'hold' }

/** A change to the answers of the node. */
export type Lie =
  /** Answers as of this many blocks ago. */
  | { kind: 'lag'; blocks: number }
  /** Adds to the result of eth_getTransactionCount. */
  | { kind: 'miscount'; by: number }
  /** Knows no receipt. */
  | { kind: 'no_receipts' }

/** Name of a fault or lie. */
export type Kind = Rule['kind']

/** Returns all rules that strike a request with these methods. */
export type Plan = (methods: readonly string[]) => Rule[]

/** Arms the rules with this seed. The plan returns those that strike in the order of the list. */
export function planFrom(rules: readonly Rule[], seed: number): Plan {
  const armed = rules.map((rule, index) => ({ rule, random: fractions(seed * 31 + index) }))
  return (methods) =>
    armed.flatMap(({ rule, random }) => {
      const isMeant = rule.methods?.some((method) => methods.includes(method)) ?? true
      return isMeant && random() < (rule.share ?? 1) ? [rule] : []
    })
}
