import { mulberry32 } from '../../../scripts/local/random.ts'

/** Choices derived from one number, so that a command can be replayed from that number alone. */
export type Dice = {
  /** Returns a number from 0 to one below `count`. */
  below(count: number): number
  oneOf<const Item>(items: readonly [Item, ...Item[]]): Item
  /** Returns undefined if the list is empty. */
  anyOf<Item>(items: readonly Item[]): Item | undefined
  isLucky(percent: number): boolean
}

export function diceOf(seed: number): Dice {
  const next = mulberry32(seed)
  const below = (count: number) => next() % count
  return {
    below,
    oneOf: (items) => items[below(items.length)] ?? items[0],
    anyOf: (items) => (items.length === 0 ? undefined : items[below(items.length)]),
    isLucky: (percent) => below(100) < percent,
  }
}
