import { mulberry32 } from '../../../scripts/local/random.ts'

/** Choices that follow from one number, so that a command is replayed by that number alone. */
export type Dice = {
  /** From 0 to one below `count`. */
  below(count: number): number
  oneOf<const Item>(items: readonly [Item, ...Item[]]): Item
  /** Undefined when there is nothing to choose from. */
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
