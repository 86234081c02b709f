/**
 * Search for many texts at once, in time proportional to the searched text (A. Aho and M. Corasick,
 * Efficient string matching, 1975).
 */

/** Text to find, in UTF-16 units. */
export type Needle = { letters: readonly number[] }

/** Search that reports the longest needle that ends at each place, by its first and last index. */
export type Finder<N extends Needle> = (
  letters: readonly number[],
  found: (needle: N, first: number, last: number) => void,
) => void

/** Builds the automaton for these needles. */
export function finderOf<N extends Needle>(needles: readonly N[]): Finder<N> {
  const next = new Map<number, number>()
  const longest: (N | undefined)[] = [undefined]
  const edges: { from: number; letter: number; to: number }[] = []
  for (const needle of needles) {
    let node = 0
    for (const letter of needle.letters) {
      let to = next.get(node * 65_536 + letter)
      if (to === undefined) {
        to = longest.push(undefined) - 1
        next.set(node * 65_536 + letter, to)
        edges.push({ from: node, letter, to })
      }
      node = to
    }
    if (node !== 0) longest[node] = needle
  }
  const fallback = new Uint32Array(longest.length)
  const goOn = (from: number, letter: number): number => {
    for (let node = from; ; node = fallback[node] ?? 0) {
      const to = next.get(node * 65_536 + letter)
      if (to !== undefined) return to
      if (node === 0) return 0
    }
  }
  for (const { from, letter, to } of inBreadth(edges)) {
    if (from !== 0) fallback[to] = goOn(fallback[from] ?? 0, letter)
    longest[to] ??= longest[fallback[to] ?? 0]
  }
  const begins = new Uint8Array(65_536)
  for (const needle of needles) begins[needle.letters[0] ?? 0] = 1
  return (letters, found) => {
    let node = 0
    for (let at = 0; at < letters.length; at += 1) {
      const letter = letters[at] ?? 0
      // Most of a text is skipped without a look into the map.
      if (node === 0 && begins[letter] === 0) continue
      node = goOn(node, letter)
      const needle = longest[node]
      if (needle) found(needle, at - needle.letters.length + 1, at)
    }
  }
}

type Edge = { from: number; letter: number; to: number }

/** Orders edges by depth, so that the node an edge falls back to is complete before it is needed. */
function inBreadth(edges: readonly Edge[]): Edge[] {
  const depths = new Map([[0, 0]])
  const levels: Edge[][] = []
  for (const edge of edges) {
    const depth = depths.get(edge.from) ?? 0
    depths.set(edge.to, depth + 1)
    const level = levels[depth]
    if (level) level.push(edge)
    else levels[depth] = [edge]
  }
  return levels.flat()
}
