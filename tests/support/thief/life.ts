/**
 * A thief's strategy and the initial state of the account, as plain objects. Amounts are in dollars, or as
 * much as a limit leaves at that moment, which the thief can read.
 */
import type { Dice } from '../model/dice.ts'
import type { Rail } from '../play/actions.ts'

export type Situation = {
  automatic: number
  asserted: number
  newRecipient: number
  total: number
  isKnown: boolean
  /** Dollars that were paid most of a day ago. */
  paidBefore: number
  /** Dollars of a payment that is approved and not paid. */
  approved: number
  /** Dollars for each payment of a mandate for the thief's shop; its total is twice that. */
  mandate: number
  /** Dollars of a signature that the thief's merchant holds. */
  held: number
}

export type Amount = 'automatic' | 'asserted' | 'total' | number

export type Move = { at: number } & (
  | { do: 'transfer'; amount: Amount; word: boolean }
  | { do: 'buy'; rail: Rail; amount: Amount; word: boolean }
  | { do: 'pay approved' }
  | { do: 'use all' }
)

export type Genome = { situation: Situation; moves: readonly Move[] }

/** Seconds after the statement at which a move can happen. */
export const moments = [0, 30, 600, 1_800, 3_400, 7_200, 43_200, 79_000, 86_200] as const
const movesMax = 12

export function anyGenome(dice: Dice): Genome {
  const count = 1 + dice.below(movesMax)
  return {
    situation: anySituation(dice),
    moves: Array.from({ length: count }, () => anyMove(dice)),
  }
}

function anySituation(dice: Dice): Situation {
  return {
    automatic: dice.oneOf([200, 100, 0, 350]),
    asserted: dice.oneOf([200, 50, 0]),
    newRecipient: dice.oneOf([10, 10, 0, 100]),
    total: dice.oneOf([1_000, 500, 300]),
    isKnown: dice.isLucky(60),
    paidBefore: dice.oneOf([0, 0, 60, 150]),
    approved: dice.oneOf([0, 0, 400, 700]),
    mandate: dice.oneOf([0, 0, 40]),
    held: dice.oneOf([0, 0, 80]),
  }
}

function anyMove(dice: Dice): Move {
  const at = dice.oneOf(moments)
  const amount = dice.oneOf<Amount>(['automatic', 'asserted', 'total', 1, 10, 40, 80])
  const word = dice.isLucky(60)
  const kind = dice.below(10)
  if (kind < 4) return { at, do: 'transfer', amount, word }
  if (kind < 7) {
    const rail = dice.oneOf(['eip3009', 'mpp', 'exact', 'upto'])
    return { at, do: 'buy', rail, amount, word }
  }
  return kind < 8 ? { at, do: 'pay approved' } : { at, do: 'use all' }
}

/** Returns a copy with one difference. */
export function mutated(dice: Dice, { situation, moves }: Genome): Genome {
  const at = dice.below(Math.max(moves.length, 1))
  switch (dice.below(5)) {
    case 0:
      return { situation, moves: [...moves, anyMove(dice)].slice(-movesMax) }
    case 1:
      return { situation, moves: moves.toSpliced(at, 1) }
    case 2:
      return { situation, moves: moves.toSpliced(at, 1, anyMove(dice)) }
    case 3: {
      const moved = moves[at]
      return {
        situation,
        moves: moved ? moves.with(at, { ...moved, at: dice.oneOf(moments) }) : moves,
      }
    }
    default:
      return { situation: { ...situation, ...oneOfSituation(dice) }, moves }
  }
}

function oneOfSituation(dice: Dice): Partial<Situation> {
  const other = anySituation(dice)
  const [name, value] = dice.anyOf(Object.entries(other)) ?? []
  return name === undefined ? {} : { [name]: value }
}
