/** Choices that follow from one number, so that a command is replayed by that number alone. */
export type Dice = {
  /** From 0 to one below `count`. */
  below(count: number): number
  oneOf<const Item>(items: readonly [Item, ...Item[]]): Item
  /** Undefined when there is nothing to choose from. */
  anyOf<Item>(items: readonly Item[]): Item | undefined
  isLucky(percent: number): boolean
}

/** Mulberry32: small, and its low bits are as good as its high ones. */
export function diceOf(seed: number): Dice {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const below = (count: number) => next() % count
  return {
    below,
    oneOf: (items) => items[below(items.length)] ?? items[0],
    anyOf: (items) => (items.length === 0 ? undefined : items[below(items.length)]),
    isLucky: (percent) => below(100) < percent,
  }
}
