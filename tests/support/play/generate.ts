/** Random scripts: a seed picks the theme of a play, its world, and its actions. */

import { type Dice, diceOf } from '../model/dice.ts'
import type { Action } from './actions.ts'
import { usualMwei } from './clock.ts'
import type { Setting } from './play.ts'

export type Script = { setting: Setting; actions: Action[] }

type Weights = Partial<Record<Action['do'], number>>
type Theme = {
  name: string
  weights: Weights
  setting?: Partial<Setting>
  waits?: readonly [number, ...number[]]
}

const day = 86_400
const usual: Weights = {
  transfer: 14,
  transfers: 2,
  buy: 12,
  again: 6,
  'ask mandate': 0.3,
  status: 4,
  expose: 3,
  freeze: 0.4,
  manner: 4,
  use: 10,
  flood: 1,
  'front-run': 2,
  drip: 1,
  drain: 0.5,
  approve: 2,
  limit: 0.1,
  unfreeze: 3,
  refill: 1,
  house: 12,
  wait: 5,
  mine: 3,
  mining: 0.6,
  reorg: 2,
  forget: 1,
  'base fee': 0.5,
  lie: 0.4,
  outage: 0.4,
}

const themes: readonly [Theme, ...Theme[]] = [
  { name: 'everything', weights: {} },
  {
    name: 'own gas',
    weights: { buy: 0, drip: 6, refill: 0, drain: 0.2, use: 0, manner: 0, wait: 8, freeze: 0.2 },
    setting: { gasPayersMillionths: 0 },
    waits: [60, 700, day, day + 60, day + 60],
  },
  {
    name: 'permits',
    weights: { transfer: 3, transfers: 0, buy: 30, use: 20, 'front-run': 0, flood: 3, house: 20 },
  },
  {
    name: 'a lying endpoint',
    weights: { lie: 4, buy: 20, use: 20, house: 20 },
    setting: { endpoints: 'liar first' },
  },
  {
    name: 'freezes',
    weights: { freeze: 3, unfreeze: 6, outage: 2, mining: 2, reorg: 4, forget: 3 },
  },
  {
    name: 'days',
    weights: { wait: 12, approve: 6, expose: 8, limit: 0.4 },
    waits: [600, 3_600, day - 600, day - 60, day, day + 60],
  },
]

/** Returns the script of a seed with this many actions. */
export function generate(seed: number, count: number): Script & { theme: string } {
  const dice = diceOf(seed)
  const theme = themes[seed % themes.length] ?? themes[0]
  const endpoints = dice.oneOf(['one', 'liar last', 'liar first'])
  const setting: Setting = {
    gasPayers: 1 + dice.below(2),
    endpoints,
    gasPayersMillionths: 1_000_000,
    payees: dice.isLucky(75) ? 'known' : 'new',
    gas: dice.isLucky(25) ? 'budgeted' : 'free',
    ...theme.setting,
  }
  return { theme: theme.name, setting, actions: actionsOf(dice, theme, count) }
}

const hardshipMax = 15

/**
 * Draws the actions. A condition that hinders everything, such as a stalled chain, ends soon, so that most
 * of a play is without it.
 */
function actionsOf(dice: Dice, theme: Theme, count: number): Action[] {
  const weighted = Object.entries({ ...usual, ...theme.weights })
  const due = new Map<number, Action>()
  return Array.from({ length: count }, (_, at) => {
    const planned = due.get(at)
    if (planned) return planned
    const action = makers[drawn(dice, weighted)](dice, theme)
    const end = endOf(action)
    if (end) due.set(firstFree(due, at + 2 + dice.below(hardshipMax)), end)
    return action
  })
}

/**
 * Returns the first free position, so that two ends at the same position both happen; a lost end would
 * leave a play dead.
 */
function firstFree(due: ReadonlyMap<number, Action>, at: number): number {
  return due.has(at) ? firstFree(due, at + 1) : at
}

function endOf(action: Action): Action | undefined {
  if (action.do === 'mining') return { do: 'mining', isOn: true }
  if (action.do === 'outage') return { do: 'outage', isOn: false }
  if (action.do === 'lie') return { do: 'lie', lie: 'none' }
  if (action.do === 'drain') return { do: 'refill' }
  if (action.do === 'base fee') return { do: 'base fee', mwei: usualMwei }
  return action.do === 'freeze' ? { do: 'unfreeze' } : undefined
}

function drawn(dice: Dice, weighted: readonly [string, number][]): Action['do'] {
  const scaled = weighted.map(([name, weight]) => [name, Math.round(weight * 10)] as const)
  let at = dice.below(scaled.reduce((sum, [, weight]) => sum + weight, 0))
  for (const [name, weight] of scaled) {
    at -= weight
    if (at < 0 && isName(name)) return name
  }
  return 'house'
}

function isName(name: string): name is Action['do'] {
  return name in makers
}

const dollars = [0.000001, 0.01, 1, 2.5, 5, 9.999999, 10, 20, 50, 100, 199.999999, 200] as const
const microsOf = (dice: Dice) => Math.round(dice.oneOf(dollars) * 1_000_000)
const bigMicrosOf = (dice: Dice) =>
  dice.isLucky(15) ? dice.oneOf([300_000_000, 600_000_000]) : microsOf(dice)
const which = (dice: Dice) => dice.below(1_000)
const to = (dice: Dice) => dice.below(3)

type Maker = (dice: Dice, theme: Theme) => Action
const makers: { [Name in Action['do']]: Maker } = {
  transfer: (dice) => ({
    do: 'transfer',
    micros: bigMicrosOf(dice),
    to: to(dice),
    word: dice.isLucky(60),
  }),
  transfers: (dice) => {
    const times = 2 + dice.below(6)
    return { do: 'transfers', micros: microsOf(dice), to: to(dice), times, word: dice.isLucky(60) }
  },
  buy: (dice) => {
    const rail = dice.oneOf(['eip3009', 'eip3009', 'mpp', 'exact', 'upto', 'upto'])
    return { do: 'buy', rail, micros: bigMicrosOf(dice), to: to(dice), crowd: dice.isLucky(70) }
  },
  again: (dice) => ({ do: 'again', which: which(dice) }),
  'ask mandate': (dice) => ({ do: 'ask mandate', micros: microsOf(dice) + 1_000_000 }),
  status: (dice) => ({ do: 'status', which: which(dice) }),
  expose: () => ({ do: 'expose' }),
  freeze: () => ({ do: 'freeze' }),
  manner: (dice) => {
    const manner = dice.oneOf([
      'settle',
      'settle',
      'keep',
      'keep',
      'error',
      'lost',
      'false',
      'refuse',
    ])
    return { do: 'manner', manner }
  },
  use: (dice) => {
    const using = dice.oneOf(['plain', 'crowd', 'stored', 'flooded', 'flooded', 'all'])
    const permille = dice.oneOf([1_000, 1_000, 500, 1])
    return { do: 'use', which: which(dice), using, permille }
  },
  flood: (dice) => ({ do: 'flood', to: to(dice), times: dice.oneOf([3, 60, 120]) }),
  'front-run': (dice) => ({ do: 'front-run', which: which(dice) }),
  drip: (dice) => ({ do: 'drip', millionths: dice.oneOf([2, 4, 8, 30, 1_000, 100_000]) }),
  drain: (dice) => ({ do: 'drain', millionths: dice.oneOf([0, 0, 3, 8, 20]) }),
  approve: (dice) => ({ do: 'approve', which: which(dice) }),
  limit: (dice) => ({
    do: 'limit',
    name: dice.oneOf(['automatic_daily', 'asserted_daily', 'daily_spending_cap']),
    dollars: dice.oneOf([50, 100, 300, 500]),
  }),
  unfreeze: () => ({ do: 'unfreeze' }),
  refill: () => ({ do: 'refill' }),
  house: () => ({ do: 'house' }),
  wait: (dice, { waits = [5, 20, 60, 120, 320, 620, 900, day] }) => ({
    do: 'wait',
    seconds: dice.oneOf(waits),
  }),
  mine: (dice) => ({ do: 'mine', blocks: 1 + dice.below(12) }),
  mining: () => ({ do: 'mining', isOn: false }),
  reorg: (dice) => ({ do: 'reorg', depth: 1 + dice.below(8) }),
  forget: () => ({ do: 'forget' }),
  'base fee': (dice) => ({ do: 'base fee', mwei: dice.oneOf([10, 10, 50, 1_000, 20_000]) }),
  lie: (dice) => ({
    do: 'lie',
    lie: dice.oneOf(['time', 'fees', 'logs', 'absence', 'late absence']),
  }),
  outage: () => ({ do: 'outage', isOn: true }),
}
