/** The letters and digits of a text, folded, and where each of them came from. */
import { folded } from './folding.ts'
import type { Units } from './units.ts'

/** Units of UTF-16 in order, and the place among the units of the text that each is made of. */
export type Skeleton = { letters: number[]; madeOf: number[] }

/** Folds a text as it is, or as a reader of the page sees it: without tags. */
export function skeletonOf({ count, codes }: Units, isPage: boolean): Skeleton {
  const letters: number[] = []
  const madeOf: number[] = []
  let close = 0
  for (let at = 0; at < count; at += 1) {
    const code = codes[at] ?? 0
    if (isPage && code === 0x3c && beginsTag(codes[at + 1] ?? 0)) {
      // Each sign is looked at once for the end of a tag, however many begin.
      if (close <= at) close = placeOf(codes, at, count)
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

/** The letter or digit that each character of ASCII is folded to; 0 for the others. */
const asciiFolded = Uint8Array.from({ length: 128 }, (_, code) => folded(code).charCodeAt(0) || 0)

/** The next `>`, the end of the text where there is none. */
function placeOf(codes: Uint32Array, from: number, count: number): number {
  const at = codes.indexOf(0x3e, from)
  return at === -1 || at > count ? count : at
}

/** A letter, `/` or `!`. */
function beginsTag(code: number): boolean {
  return code === 0x2f || code === 0x21 || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a)
}
