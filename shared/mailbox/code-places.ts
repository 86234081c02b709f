/** Where the secrets of a text stand, and the text without them. */

/** A secret in a text: `text.slice(start, end)` is how it is written, `value` what is entered. */
export type CodePlace = { kind: 'code' | 'link'; start: number; end: number; value: string }

/** The text with a handle for each secret, as `[code c_7f3a]`. */
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
