/**
 * Returns the text without any of these characters at its end. Uses a loop, because a pattern such as
 * `/0+$/` starts again at every run of the character and takes quadratic time on a text with many.
 */
export function trimEndOf(text: string, signs: string): string {
  let end = text.length
  while (end > 0 && signs.includes(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}
