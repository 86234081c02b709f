/**
 * The text without any of the signs at its end. A loop, since a pattern such as `/0+$/` starts anew at
 * every run of the sign and takes quadratic time on a text that has many.
 */
export function trimEndOf(text: string, signs: string): string {
  let end = text.length
  while (end > 0 && signs.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}
