/** The places of secrets in a text, and the text with handles instead of them. */

/** A secret in a text: `text.slice(start, end)` is how it is written, and `value` is what is entered. */
export type CodePlace = { kind: 'code' | 'link'; start: number; end: number; value: string }

/** Number of characters beside a secret that show if its line has nothing else. */
const besideMax = 40

/** Returns by what an agent chooses among handles: the form of a secret, or the host that a link leads to. */
export function labelOf(text: string, { kind, start, end }: Omit<CodePlace, 'value'>): string {
  const written = text.slice(start, end)
  if (kind === 'link') return URL.parse(written)?.host ?? 'an address'
  const signs = written.replaceAll(/[\s-]/g, '')
  const isOfDigits = /^\p{Nd}+$/u.test(signs)
  const form = `${signs.length} ${isOfDigits ? 'digits' : 'characters'}`
  return isAloneOnLine(text, start, end) ? `${form}, alone on its line` : form
}

/** Returns true if only signs are beside a secret on its line. */
export function isAloneOnLine(text: string, start: number, end: number): boolean {
  const before =
    text
      .slice(Math.max(0, start - besideMax), start)
      .split('\n')
      .at(-1) ?? ''
  const [after = ''] = text.slice(end, end + besideMax).split('\n', 1)
  return !/[\p{L}\p{N}]/u.test(before + after)
}

/** Returns the text with a handle in place of each secret, such as `[code c_7f3a]`. */
export function sealPlaces<Place extends Omit<CodePlace, 'value'>>(
  text: string,
  places: readonly Place[],
  handleFor: (place: Place) => string,
): string {
  let sealed = ''
  let at = 0
  for (const place of places) {
    sealed += `${text.slice(at, place.start)}[${place.kind} ${handleFor(place)}]`
    at = place.end
  }
  return sealed + text.slice(at)
}
