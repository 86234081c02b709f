/**
 * Decides whether a text contains a secret, in any encoding that the echoes of sites use. It uses Node's
 * own means and does not look at the scrubber, so that neither inherits the other's mistakes.
 */
import { echoes, spreadEchoes } from './hostile-echo.ts'

/** Shorter texts occur anywhere by chance. */
const charactersMin = 6
const alone = { before: '', after: '' }
const all = { ...echoes, ...spreadEchoes }

/** Returns the encodings of a secret to look for: all, or those that are removed from an answer. */
export function needlesOf(secret: string, names = Object.keys(all)): string[] {
  const encoded = names.flatMap((name) => {
    const echo = all[name]
    if (!echo) throw new Error(`no encoding ${name}`)
    const text = echo(secret, alone)
    return typeof text === 'string' ? text.trim() : []
  })
  const inside = [1, 2].map((before) =>
    Buffer.from(`${'\0'.repeat(before)}${secret}`)
      .toString('base64')
      .slice(before + 1, -4),
  )
  return [...new Set([...encoded, ...inside])].filter((text) => text.length >= charactersMin)
}

/** Matches our ids. Among thousands of them, six digits of one equal a code by chance. */
const uuids = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g

/** Returns all texts of an answer, without JSON escapes and without ids. */
export function textsIn(body: unknown): string {
  const texts: string[] = []
  JSON.stringify(body, (name, value: unknown) => {
    texts.push(name)
    if (typeof value === 'string') texts.push(value)
    return value
  })
  return texts.join('\n').replaceAll(uuids, '')
}

/** Returns the needles that a text contains. */
export function leaksIn(text: string, needles: readonly string[]): string[] {
  return needles.filter((needle) => text.includes(needle))
}
