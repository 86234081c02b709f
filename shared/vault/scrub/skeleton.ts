/** Folded letters and digits of a text, with the place that each of them comes from. */
import { folded } from './folding.ts'
import type { Units } from './units.ts'

/** UTF-16 units in order, and for each the index of the unit in the text that it comes from. */
export type Skeleton = { letters: number[]; madeOf: number[] }

/** Folds a text as it is or, for a page, as a reader sees it: without tags. */
export function skeletonOf({ count, codes }: Units, isPage: boolean): Skeleton {
  const letters: number[] = []
  const madeOf: number[] = []
  let close = 0
  for (let at = 0; at < count; at += 1) {
    const code = codes[at] ?? 0
    if (isPage && code === 0x3c && beginsTag(codes[at + 1] ?? 0)) {
      // The end of a tag is searched for only once in each stretch of text, even if many tags begin in it.
      if (close <= at) close = tagEndOf(codes, at, count)
      if (close < count) at = close
      continue
    }
    const known = code < 128 ? asciiFolded[code] : undefined
    if (known === 0) continue
    if (known !== undefined) {
      letters.push(known)
      madeOf.push(at)
      continue
    }
    const text = folded(code)
    for (let place = 0; place < text.length; place += 1) {
      letters.push(text.charCodeAt(place))
      madeOf.push(at)
    }
  }
  return { letters, madeOf }
}

/** Letter or digit that each ASCII character is folded to; 0 for the others. */
const asciiFolded = Uint8Array.from({ length: 128 }, (_, code) => folded(code).charCodeAt(0) || 0)

/** Returns the place of the next `>`, or the end of the text if there is none. */
function tagEndOf(codes: Uint32Array, from: number, count: number): number {
  const at = codes.indexOf(0x3e, from)
  return at === -1 || at > count ? count : at
}

/** True for a letter, `/` or `!`. */
function beginsTag(code: number): boolean {
  return code === 0x2f || code === 0x21 || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a)
}
