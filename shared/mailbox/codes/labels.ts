/** Tells labels, as forms have them, from sentences, and what they say about the value behind them. */
import type { Span } from './spans.ts'

/** Words right before a colon, after which comes whom or what a secret is for. */
export const tellsWhom =
  /(?:account|user|username|name|e-?mail|address|device|contact|support|help|from|by|konto|benutzer|compte|utilisateur|cuenta|usuario|conta|utente|rekening|аккаунт\p{L}{0,3}|hesap|hesabiniz)\s?[:=]$/u

const labelMax = 60
const label = /(?:^|\n)[^\S\n]{0,8}([^:\n.!?,]{1,40}):\s{0,4}$/u

/** Returns true if a line is one or two words without punctuation, as a label in a form is. */
export function isBareLabel(line: string): boolean {
  return /^\s*[\p{L}\p{M}]{2,30}(?: [\p{L}\p{M}]{1,30})?\s*$/u.test(line)
}

/** Returns the short label with a colon that precedes an offset. */
export function labelBefore(text: string, start: number): Span | undefined {
  const from = Math.max(0, start - labelMax)
  const found = label.exec(text.slice(from, start))
  if (!found || (found.index === 0 && from > 0 && !found[0].startsWith('\n'))) return undefined
  const isShort = (found[1] ?? '').trim().split(/\s+/).length <= 3
  return isShort ? { start: from + found.index, end: start } : undefined
}
