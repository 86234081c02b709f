/** Construction of the prefilter's tables from sequences. */
import { writingPrefixes } from './beginnings.ts'
import { isLetterOrDigit } from './bytes.ts'
import { compressedStarts } from './compressed-starts.ts'
import { gapStarts } from './gaps.ts'
import { compressedStart, gapOnly, type Prefilter, tripleAt, writings } from './glance.ts'
import type { Sequence } from './sequences.ts'

/** Prepares the prefilter, which can be used for any number of texts. */
export function prefilterFor(sequences: readonly Sequence[]): Prefilter {
  const prefilter: Prefilter = {
    pairs: new Uint8Array(65_536),
    triples: new Uint8Array(65_536),
    byCode: { text: new Map(), hex: new Map(), decimal: new Map() },
  }
  for (const sequence of sequences) addTo(prefilter, sequence)
  for (const start of compressedStarts) {
    const pair = (start.charCodeAt(0) << 8) | start.charCodeAt(1)
    prefilter.pairs[pair] = (prefilter.pairs[pair] ?? 0) | compressedStart
  }
  return prefilter
}

function addTo(prefilter: Prefilter, sequence: Sequence): void {
  const { pairs, byCode } = prefilter
  const { elements, writing } = sequence
  const bit = 1 << writings.indexOf(writing)
  for (const code of elements[0] ?? []) {
    const list = byCode[writing].get(code)
    if (list === undefined) byCode[writing].set(code, [sequence])
    else list.push(sequence)
  }
  const behind = bytesBehind(sequence, bit)
  for (const [first, second] of writingPrefixes(elements[0] ?? [], sequence)) {
    const row = first << 8
    if (second !== undefined) pairs[row | second] = (pairs[row | second] ?? 0) | bit
    else
      for (let at = 0; at < 256; at += 1)
        pairs[row | at] = (pairs[row | at] ?? 0) | (behind[at] ?? 0)
  }
  if (writing === 'text') addTriples(prefilter, sequence)
}

/** Returns the bits of each byte that may follow a plain character: the next one, its escapes, or a gap. */
function bytesBehind(sequence: Sequence, bit: number): Uint8Array {
  const next = sequence.elements[1]
  // Any byte may follow a single character.
  if (next === undefined) return new Uint8Array(256).fill(bit)
  const behind = new Uint8Array(256)
  for (const byte of gapStarts[sequence.gap]) behind[byte] = gapOnly
  for (const [first] of writingPrefixes(next, sequence)) behind[first] = bit
  return behind
}

const letters = [...new Uint8Array(256).keys()].filter(isLetterOrDigit)

/** Marks the first three bytes of sequences: among letters and digits, three tell more than two. */
function addTriples({ triples }: Prefilter, { elements }: Sequence): void {
  const [firsts = [], seconds = letters, thirds = letters] = elements
  for (const first of firsts) {
    for (const second of seconds) {
      for (const third of thirds) triples[tripleAt(first, second, third)] = 1
    }
  }
}
