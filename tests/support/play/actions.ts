/** What can be done in a play, as plain objects: a script is a list of them, and any part of one is one. */

/** How a payment is carried. */
export type Rail = 'eip3009' | 'mpp' | 'exact' | 'upto'
/** What a merchant does with a payment that it was sent. */
export type Manner = 'settle' | 'keep' | 'error' | 'lost' | 'false' | 'refuse'
/** How somebody uses a signature that he holds. */
export type Using = 'plain' | 'crowd' | 'stored' | 'flooded' | 'all'
/** What the liar among the endpoints tells. */
export type Lie = 'none' | 'time' | 'fees' | 'logs' | 'absence' | 'late absence'
export type LimitName = 'automatic_daily' | 'asserted_daily' | 'daily_spending_cap'

/** Amounts in millionths of a dollar; `which` and `to` count around what there is. */
type Terms = {
  /** Of the agent, with the key that was stolen. */
  transfer: { micros: number; to: number; word: boolean }
  transfers: { micros: number; to: number; times: number; word: boolean }
  buy: { rail: Rail; micros: number; to: number; crowd: boolean }
  again: { which: number }
  'ask mandate': { micros: number }
  status: { which: number }
  expose: object
  freeze: object
  /** Of its merchant, payees and contracts, and of who gives gas or takes it away. */
  manner: { manner: Manner }
  use: { which: number; using: Using; permille: number }
  flood: { to: number; times: number }
  'front-run': { which: number }
  drip: { millionths: number }
  drain: { millionths: number }
  /** Of the owner and the operator. */
  approve: { which: number }
  limit: { name: LimitName; dollars: number }
  unfreeze: object
  refill: object
  house: object
  /** Of the chain, its endpoints and time. */
  wait: { seconds: number }
  mine: { blocks: number }
  mining: { isOn: boolean }
  reorg: { depth: number }
  forget: object
  'base fee': { mwei: number }
  lie: { lie: Lie }
  outage: { isOn: boolean }
}

export type ActionName = keyof Terms
/** One of these kinds. */
export type ActionOf<Name extends ActionName> = { [Key in Name]: { do: Key } & Terms[Key] }[Name]
export type Action = ActionOf<ActionName>

/** One action as a line of a script. */
export function lineOf(action: Action): string {
  return JSON.stringify(action)
}
