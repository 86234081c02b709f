/**
 * What others wrote, made fit for a mail: a line that ends nothing, turns nothing around and is no
 * markup.
 */

/** Characters of one value that somebody else may have chosen. */
const valueLengthMax = 200

/** One line without controls and without characters that turn the direction of writing. */
export function clean(value: string): string {
  const line = value
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  const characters = Array.from(line)
  return characters.length <= valueLengthMax
    ? line
    : `${characters.slice(0, valueLengthMax - 1).join('')}…`
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text as text in HTML, in an attribute as well. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}
