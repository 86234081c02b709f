/** Actions of a play as plain objects. A script is a list of them, and any part of a script is a script. */

/** Way in which a payment is carried. */
export type Rail = 'eip3009' | 'mpp' | 'exact' | 'upto'
/** A merchant's behaviour with a payment that it was sent. */
export type Manner = 'settle' | 'keep' | 'error' | 'lost' | 'false' | 'refuse'
/** Way in which a holder uses a signature. */
export type Using = 'plain' | 'crowd' | 'stored' | 'flooded' | 'all'
/** Lie of the dishonest endpoint. */
export type Lie = 'none' | 'time' | 'fees' | 'logs' | 'absence' | 'late absence'
export type LimitName = 'automatic_daily' | 'asserted_daily' | 'daily_spending_cap'

/** Arguments of each action. Amounts are micro-USD; `which` and `to` are modulo what exists. */
type Terms = {
  /** Actions of the agent, with the stolen key. */
  transfer: { micros: number; to: number; word: boolean }
  transfers: { micros: number; to: number; times: number; word: boolean }
  buy: { rail: Rail; micros: number; to: number; crowd: boolean }
  again: { which: number }
  'ask mandate': { micros: number }
  status: { which: number }
  expose: object
  freeze: object
  /** Actions of its merchant, payees and contracts, and of those who give gas or take it away. */
  manner: { manner: Manner }
  use: { which: number; using: Using; permille: number }
  flood: { to: number; times: number }
  'front-run': { which: number }
  drip: { millionths: number }
  drain: { millionths: number }
  /** Actions of the owner and the operator. */
  approve: { which: number }
  limit: { name: LimitName; dollars: number }
  unfreeze: object
  refill: object
  house: object
  /** Actions of the chain, its endpoints and time. */
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
/** An action of one of these kinds. */
export type ActionOf<Name extends ActionName> = { [Key in Name]: { do: Key } & Terms[Key] }[Name]
export type Action = ActionOf<ActionName>

/** Returns one action as a line of a script. */
export function lineOf(action: Action): string {
  return JSON.stringify(action)
}
