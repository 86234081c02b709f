/** Single steps, drawn by weight. */
import type { Dice } from '../model/dice.ts'
import type { Scope, Ticks } from './acts.ts'
import { day, hour, minute } from './acts.ts'
import type { Step } from './steps.ts'
import { appScopes } from './widening-questions.ts'

/** Draws a position that is mostly the newest one. */
export const lately = (dice: Dice) => (dice.isLucky(60) ? 0 : dice.below(4))
export const signing = (dice: Dice) => (dice.isLucky(45) ? lately(dice) : null)
export const aDevice = (dice: Dice) => (dice.isLucky(70) ? 0 : 1)
export const anAgent = (dice: Dice) => (dice.isLucky(50) ? 0 : dice.below(5))
export const ticks = (dice: Dice): Ticks => ({
  anyKey: dice.isLucky(30),
  payee: dice.isLucky(50),
  device: dice.isLucky(50),
})

export const aScope = (dice: Dice) => dice.oneOf<Scope>(['full', 'pay', 'pay', 'read', 'vault'])
export const anApp = (dice: Dice) => dice.oneOf(appScopes)
export const usdOf = (dice: Dice) => dice.oneOf([1, 4, 8, 30, 90, 150, 400])
export const waits = [
  1,
  20,
  5 * minute,
  11 * minute,
  hour,
  23 * hour,
  day + hour,
  73 * hour,
] as const

type Draw = { weight: number; draw: (dice: Dice, session: number) => Step }

/** Steps about sessions and ways to sign in. */
export const access: readonly Draw[] = [
  {
    weight: 14,
    draw: (dice) => ({
      do: 'sign in',
      way: dice.oneOf(['password', 'password', 'passkey', 'passkey', 'recovery_code']),
      which: dice.isLucky(80) ? 0 : dice.below(4),
    }),
  },
  {
    weight: 4,
    draw: (dice, session) => ({
      do: 'prove',
      session,
      by: dice.oneOf(['password', 'passkey']),
      which: lately(dice),
    }),
  },
  { weight: 2, draw: (_, session) => ({ do: 'touch', session }) },
  { weight: 2, draw: (dice, session) => ({ do: 'end session', session, ended: dice.below(3) }) },
  { weight: 1, draw: (_, session) => ({ do: 'end others', session }) },
  { weight: 2, draw: (_, session) => ({ do: 'new password', session }) },
  { weight: 2, draw: (_, session) => ({ do: 'new codes', session }) },
  { weight: 5, draw: (_, session) => ({ do: 'add passkey', session }) },
  { weight: 3, draw: (dice, session) => ({ do: 'remove passkey', session, which: lately(dice) }) },
  { weight: 1, draw: (_, session) => ({ do: 'lose passkeys', session }) },
  {
    weight: 4,
    draw: (dice, session) => ({
      do: 'undo',
      session,
      ago: dice.oneOf([30, 5 * minute, hour, day, 90 * day]),
      putBack: dice.isLucky(50),
    }),
  },
]

/** Steps about keys, apps and known recipients or devices. */
export const widening: readonly Draw[] = [
  { weight: 4, draw: (dice, session) => ({ do: 'make key', session, scope: aScope(dice) }) },
  {
    weight: 2,
    draw: (dice, session) => ({
      do: 'rotate key',
      session,
      agent: anAgent(dice),
      hours: dice.below(3),
    }),
  },
  { weight: 2, draw: (dice, session) => ({ do: 'revoke key', session, agent: anAgent(dice) }) },
  { weight: 3, draw: (dice, session) => ({ do: 'let in', session, scope: anApp(dice) }) },
  { weight: 3, draw: (dice) => ({ do: 'refresh', agent: anAgent(dice) }) },
  { weight: 1, draw: (dice, session) => ({ do: 'disconnect', session, agent: anAgent(dice) }) },
  { weight: 5, draw: (dice, session) => ({ do: 'know', session, payee: dice.below(4) }) },
  { weight: 3, draw: (dice, session) => ({ do: 'forget', session, payee: dice.below(4) }) },
  {
    weight: 2,
    draw: (dice, session) => {
      return { do: 'forget device', session, agent: anAgent(dice), device: aDevice(dice) }
    },
  },
  { weight: 1, draw: (dice, session) => ({ do: 'forget all by', session, agent: anAgent(dice) }) },
  {
    weight: 2,
    draw: (dice, session) => ({
      do: 'set limit',
      session,
      name: dice.oneOf(['automatic', 'asserted', 'newRecipient', 'cap']),
      usd: dice.oneOf([0, 5, 50, 300, 2_000]),
    }),
  },
  {
    weight: 2,
    draw: (dice, session) => ({
      do: 'permit',
      session,
      what: dice.oneOf(['reads_secrets', 'shows_codes']),
      agent: anAgent(dice),
      permits: dice.isLucky(70),
    }),
  },
  {
    weight: 2,
    draw: (dice, session) => {
      return { do: 'freeze', agent: dice.isLucky(70) ? anAgent(dice) : null, session }
    },
  },
  { weight: 5, draw: (_, session) => ({ do: 'unfreeze', session }) },
]

/** Steps about payments and mandates, and their effects on the chain. */
const paying: readonly Draw[] = [
  {
    weight: 14,
    draw: (dice) => ({
      do: 'ask',
      agent: anAgent(dice),
      device: aDevice(dice),
      payee: dice.below(4),
      usd: usdOf(dice),
      isBought: dice.isLucky(40),
    }),
  },
  {
    weight: 12,
    draw: (dice) => ({
      do: 'go on',
      agent: anAgent(dice),
      device: aDevice(dice),
      payment: lately(dice),
      word: dice.isLucky(60),
    }),
  },
  {
    weight: 5,
    draw: (dice) => ({
      do: 'force',
      agent: anAgent(dice),
      payment: lately(dice),
      level: dice.oneOf(['none', 'agent_asserted', 'mandate', 'user_session', 'user_passkey']),
      mandate: lately(dice),
    }),
  },
  {
    weight: 8,
    draw: (dice) => ({
      do: 'settle',
      payment: dice.below(5),
      label: dice.oneOf(['included', 'safe', 'finalized']),
    }),
  },
  { weight: 4, draw: (dice) => ({ do: 'unsettle', payment: dice.below(5) }) },
  { weight: 2, draw: (dice) => ({ do: 'release', payment: dice.below(5) }) },
  {
    weight: 12,
    draw: (dice, session) => ({
      do: 'approve',
      session,
      payment: lately(dice),
      ticks: ticks(dice),
      signing: signing(dice),
    }),
  },
  {
    weight: 2,
    draw: (dice, session) => {
      return { do: 'approve several', session, payments: 2 + dice.below(2), signing: signing(dice) }
    },
  },
  { weight: 4, draw: (dice, session) => ({ do: 'decline', session, payment: dice.below(3) }) },
  {
    weight: 5,
    draw: (dice) => ({
      do: 'ask mandate',
      agent: anAgent(dice),
      device: aDevice(dice),
      payee: dice.isLucky(60) ? dice.below(4) : null,
    }),
  },
  {
    weight: 6,
    draw: (dice, session) => ({
      do: 'approve mandate',
      session,
      mandate: lately(dice),
      anyKey: dice.isLucky(40),
      signing: signing(dice),
    }),
  },
  {
    weight: 4,
    draw: (dice, session) => ({
      do: dice.oneOf(['decline mandate', 'suspend', 'resume', 'resume', 'revoke mandate']),
      session,
      mandate: lately(dice),
    }),
  },
  { weight: 1, draw: (dice) => ({ do: 'give up mandate', agent: anAgent(dice), mandate: 0 }) },
  { weight: 9, draw: (dice) => ({ do: 'wait', seconds: dice.oneOf(waits) }) },
]

const draws = [...access, ...widening, ...paying]
const total = draws.reduce((sum, { weight }) => sum + weight, 0)

export function drawStep(dice: Dice): Step {
  let left = dice.below(total)
  for (const { weight, draw } of draws) {
    if (left < weight) return draw(dice, lately(dice))
    left -= weight
  }
  return { do: 'wait', seconds: 1 }
}
