/** The places of secrets in a text, and the text with handles instead of them. */

/** A secret in a text: `text.slice(start, end)` is how it is written, and `value` is what is entered. */
export type CodePlace = { kind: 'code' | 'link'; start: number; end: number; value: string }

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
