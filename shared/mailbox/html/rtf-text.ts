/**
 * Reads text in RTF (Rich Text Format 1.9.1) without its markup, so that a code is found which control
 * words split. It keeps all characters of text, also those of names of fonts and of hidden text, and lays
 * nothing out. It takes time in proportion to the length.
 */

const beginning = /\{\\rtf/gi
const group = /\\[^]|[{}]/g
/** A character by its number with what older programs show instead; a control word, byte or symbol. */
const control =
  /\\u(-?\d{1,6}) ?(?:\?|\\'[0-9a-f]{2})?|\\([a-z]{1,32})(?:-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^])|[{}\r\n]/gi

const words = new Map([
  ...['par', 'line', 'row', 'sect', 'page'].map((word) => [word, '\n'] as const),
  ...['tab', 'cell'].map((word) => [word, '\t'] as const),
  ...['emdash', 'endash'].map((word) => [word, '-'] as const),
])
const symbols = new Map([
  ...['\\', '{', '}'].map((sign) => [sign, sign] as const),
  ...['\r', '\n'].map((end) => [end, '\n'] as const),
  ['~', ' '],
  ['_', '-'],
])

/** Returns true if a text contains a document in RTF. */
export function hasRtf(text: string): boolean {
  return text.search(beginning) !== -1
}

/** Returns a text in which documents in RTF are read. One without an end ends with the text. */
export function withoutRtf(text: string): string {
  const pieces: string[] = []
  let at = 0
  for (const { index } of text.matchAll(beginning)) {
    if (index < at) continue
    const end = endOfGroup(text, index)
    pieces.push(text.slice(at, index), textOfRtf(text.slice(index, end)))
    at = end
  }
  return at === 0 ? text : pieces.join('') + text.slice(at)
}

function endOfGroup(text: string, start: number): number {
  group.lastIndex = start
  let depth = 0
  for (let found = group.exec(text); found; found = group.exec(text)) {
    if (found[0] === '{') depth += 1
    if (found[0] === '}') depth -= 1
    if (depth === 0) return group.lastIndex
  }
  return text.length
}

function textOfRtf(rtf: string): string {
  return rtf.replaceAll(
    control,
    (_, number?: string, word?: string, byte?: string, symbol?: string) => {
      // Numbers above 32,767 are written as negative ones.
      if (number !== undefined) return String.fromCharCode(Number(number))
      if (word !== undefined) return words.get(word.toLowerCase()) ?? ''
      if (byte !== undefined) return windows1252.decode(Uint8Array.of(Number.parseInt(byte, 16)))
      return symbols.get(symbol ?? '') ?? ''
    },
  )
}

const windows1252 = new TextDecoder('windows-1252')
