/** The tables of a first look, made for sequences. */
import { beginningsOf } from './beginnings.ts'
import { isLetterOrDigit } from './bytes.ts'
import { compressedStarts } from './compressed-starts.ts'
import { gapStarts } from './gaps.ts'
import { compressedStart, type Glance, gapOnly, tripleAt, writings } from './glance.ts'
import type { Sequence } from './sequences.ts'

/** Prepares the look; it serves any number of texts. */
export function glanceFor(sequences: readonly Sequence[]): Glance {
  const glance: Glance = {
    pairs: new Uint8Array(65_536),
    triples: new Uint8Array(65_536),
    byCode: { text: new Map(), hex: new Map(), decimal: new Map() },
  }
  for (const sequence of sequences) addTo(glance, sequence)
  for (const start of compressedStarts) {
    const pair = (start.charCodeAt(0) << 8) | start.charCodeAt(1)
    glance.pairs[pair] = (glance.pairs[pair] ?? 0) | compressedStart
  }
  return glance
}

function addTo(glance: Glance, sequence: Sequence): void {
  const { pairs, byCode } = glance
  const { elements, writing } = sequence
  const bit = 1 << writings.indexOf(writing)
  for (const code of elements[0] ?? []) {
    const list = byCode[writing].get(code)
    if (list === undefined) byCode[writing].set(code, [sequence])
    else list.push(sequence)
  }
  const mark = (first: number, second: number, bits: number) => {
    const pair = (first << 8) | second
    pairs[pair] = (pairs[pair] ?? 0) | bits
  }
  const behind = bytesBehind(sequence, bit)
  for (const [first, second] of beginningsOf(elements[0] ?? [], sequence)) {
    if (second !== undefined) mark(first, second, bit)
    else for (const [other, bits] of behind) mark(first, other, bits)
  }
  if (writing === 'text') addTriples(glance, sequence)
}

/** Behind a plain character: the next one and its escapes, or a gap. */
function bytesBehind(sequence: Sequence, bit: number): ReadonlyMap<number, number> {
  const next = sequence.elements[1]
  // A single character may be followed by anything.
  if (next === undefined) return new Map(anyByte.map((byte) => [byte, bit]))
  const behind = new Map(gapStarts[sequence.gap].map((byte) => [byte, gapOnly]))
  for (const [first] of beginningsOf(next, sequence)) behind.set(first, bit)
  return behind
}

const anyByte = [...new Uint8Array(256).keys()]
const letters = anyByte.filter(isLetterOrDigit)

/** Where nothing but letters and digits stands, three of them tell more than two. */
function addTriples({ triples }: Glance, { elements }: Sequence): void {
  const [firsts = [], seconds = letters, thirds = letters] = elements
  for (const first of firsts) {
    for (const second of seconds) {
      for (const third of thirds) triples[tripleAt(first, second, third)] = 1
    }
  }
}
