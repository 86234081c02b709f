/** Draws histories: single steps mixed with sequences typical of owners, agents and thieves. */
import type { Dice } from '../model/dice.ts'
import { hour, minute } from './acts.ts'
import {
  access,
  aDevice,
  anAgent,
  anApp,
  aScope,
  drawStep,
  signing,
  ticks,
  usdOf,
  waits,
  widening,
} from './draws.ts'
import type { Step } from './steps.ts'

/** Signs the owner in; this session is then the newest. */
const comes: Step = { do: 'sign in', way: 'best', which: 0 }
const aPayee = (dice: Dice) => dice.below(4)
const asks = (dice: Dice, agent: number, payee: number): Step => {
  return { do: 'ask', agent, device: 0, payee, usd: usdOf(dice), isBought: dice.isLucky(40) }
}
const goesOn = (dice: Dice, agent: number): Step => {
  return { do: 'go on', agent, device: 0, payment: 0, word: dice.isLucky(50) }
}
const settles = (dice: Dice): Step => {
  return { do: 'settle', payment: 0, label: dice.oneOf(['included', 'safe', 'finalized']) }
}
const approves = (dice: Dice): Step => {
  return { do: 'approve', session: 0, payment: 0, ticks: ticks(dice), signing: signing(dice) }
}

/** Sequences of steps that belong together. */
const scenes: readonly ((dice: Dice, agent: number, payee: number) => Step[])[] = [
  (dice, agent, payee) => [
    asks(dice, agent, payee),
    comes,
    approves(dice),
    goesOn(dice, agent),
    settles(dice),
    asks(dice, agent, payee),
    goesOn(dice, agent),
  ],
  (dice, agent, payee) => [
    asks(dice, agent, payee),
    comes,
    approves(dice),
    { do: 'decline', session: 0, payment: 0 },
    asks(dice, agent, payee),
    goesOn(dice, agent),
  ],
  (dice, agent, payee) => [
    comes,
    { do: 'know', session: 0, payee },
    asks(dice, agent, payee),
    goesOn(dice, agent),
    settles(dice),
    { do: 'forget', session: 0, payee },
    { do: 'unsettle', payment: 0 },
    settles(dice),
  ],
  (dice, agent, payee) => [
    { do: 'ask mandate', agent, device: aDevice(dice), payee: dice.isLucky(60) ? payee : null },
    comes,
    {
      do: 'approve mandate',
      session: 0,
      mandate: 0,
      anyKey: dice.isLucky(40),
      signing: signing(dice),
    },
    asks(dice, dice.below(2), payee),
    { do: 'force', agent: dice.below(2), payment: 0, level: 'mandate', mandate: 0 },
    asks(dice, agent, payee),
    { do: dice.oneOf(['suspend', 'resume', 'revoke mandate']), session: 0, mandate: 0 },
    goesOn(dice, anAgent(dice)),
  ],
  (dice, agent) => [
    { do: 'freeze', agent, session: 0 },
    { do: 'sign in', way: dice.oneOf(['best', 'password', 'recovery_code']), which: 0 },
    { do: 'wait', seconds: dice.oneOf([1, 11 * minute]) },
    { do: 'unfreeze', session: 0 },
  ],
  // An intruder, and the owner who finds out.
  (dice, agent, payee) => [
    { do: 'sign in', way: dice.oneOf(['password', 'best']), which: 0 },
    ...[1, 2, 3].flatMap(() => dice.anyOf([...access, ...widening])?.draw(dice, 0) ?? []),
    asks(dice, agent, payee),
    { do: 'wait', seconds: dice.oneOf([60, hour]) },
    comes,
    { do: 'undo', session: 0, ago: dice.oneOf([2 * minute, 2 * hour, 24 * hour]), putBack: true },
  ],
  (dice, agent) => [
    { do: 'sign in', way: 'recovery_code', which: 0 },
    { do: dice.oneOf(['new password', 'lose passkeys', 'new codes']), session: 0 },
    { do: dice.oneOf(['revoke key', 'disconnect']), session: 0, agent },
    { do: 'wait', seconds: dice.oneOf(waits) },
    comes,
  ],
  (dice, agent, payee) => [
    comes,
    { do: 'let in', session: 0, scope: anApp(dice) },
    asks(dice, 0, payee),
    approves(dice),
    { do: dice.oneOf(['disconnect', 'revoke key', 'forget all by']), session: 0, agent },
    goesOn(dice, agent),
  ],
]

/** Draws about this many steps, after those in which an owner signs in and makes keys. */
export function drawSteps(dice: Dice, count: number): Step[] {
  const steps: Step[] = [
    comes,
    { do: 'make key', session: 0, scope: dice.oneOf(['full', 'pay']) },
    { do: 'make key', session: 0, scope: aScope(dice) },
    ...(dice.isLucky(50) ? [{ do: 'add passkey' as const, session: 0 }] : []),
  ]
  while (steps.length < count) {
    const scene = dice.isLucky(35) ? dice.anyOf(scenes) : undefined
    const drawn = scene?.(dice, dice.below(2), aPayee(dice)) ?? [drawStep(dice)]
    const at = dice.below(drawn.length) + 1
    steps.push(...(scene ? drawn.toSpliced(at, 0, { do: 'look' }) : drawn))
  }
  return [...steps, { do: 'look' }]
}
