/**
 * Finds the secret in a mail address, such as the token of `confirm+8d3f0a7c9e1b@lists.example`, and in
 * the name of an author. An address stays whole unless what is in front of its `@` works as a code: most
 * tags only route answers.
 */
import type { CodePlace } from './code-places.ts'
import { isRandomLooking, isYear } from './drawn-text.ts'
import type { Span } from './spans.ts'
import { spansOf } from './spans.ts'

/** Summary of the rest of the mail, as far as it is about codes. */
export type MailboxContext = {
  /** True if a code or a link that signs in was found in the mail. */
  isFound: boolean
  /** True if the subject is about codes or signing in, and the mail names a code, password or key. */
  isAbout: boolean
}

/** An address, and the places in it of codes that the mail contains elsewhere. */
export type CheckedAddress = {
  address: string
  isRecipient: boolean
  repeated: readonly CodePlace[]
}

/** Matches a value with a digit, right behind the name of a secret. */
const labelled =
  /(?<=(?<![a-z])(?:tok(?:en)?|code|otp|pin|2fa|passcode|password|passwd|pwd|secret|key)(?:[-._+=]{1,2}|(?=\d)))(?=[a-z]{0,64}\d)[a-z0-9]{4,64}(?![a-z0-9])/gi
/** Matches a word for what a token in the address does. */
const speaking =
  /(?<![a-z])(?:tok(?:en)?(?![a-z])|otp|auth(?!or)|verif|confirm|log-?in|sign-?in|magic|activat|unlock|reset|invit|secret|approve)/i
/** Matches a number, or letters and digits, as of a code. */
const short = /(?<![a-z0-9])(?=[a-z]{0,11}\d)[a-z0-9]{4,12}(?![a-z0-9])/gi
const shortInName = /(?<![\p{L}\p{N}])(?:\d{3}[ -]\d{3}|[A-Z0-9]{4,10})(?![\p{L}\p{N}])/gu
/** Matches the tag of an address: all that is behind the first `+` or `=`. */
const tag = /(?<=^[^+=]{0,64}[+=])[^+=].*$/g
const part = /[^-._+=]{12,}/g

/** Returns the place of the secret in an address, from the first character of one to the last. */
export function placesInAddress(
  { address, isRecipient, repeated }: CheckedAddress,
  context: MailboxContext,
): CodePlace[] {
  const name = address.slice(0, Math.max(0, address.lastIndexOf('@')))
  // A recipient was told to the author; only a tag can be the author's.
  const start = isRecipient ? (spansOf(tag, name)[0]?.start ?? name.length) : 0
  const known = repeated.filter(({ end }) => end <= name.length)
  const own = spansIn(name, context).filter((span) => span.start >= start)
  const all = [...known, ...own]
  if (all.length === 0) return []
  const whole = codeIn(address, {
    start: Math.min(...all.map((span) => span.start)),
    end: Math.max(...all.map((span) => span.end)),
  })
  return [known.find(({ start: from, end }) => from === whole.start && end === whole.end) ?? whole]
}

/** Returns the codes in the name of an author, in a mail about a code in which none was found. */
export function placesInName(name: string, { isFound, isAbout }: MailboxContext): CodePlace[] {
  if (isFound || !isAbout) return []
  return spansOf(shortInName, name)
    .map((span) => codeIn(name, span))
    .filter(({ value }) => !isUsual(value))
}

function codeIn(text: string, { start, end }: Span): CodePlace {
  return { kind: 'code', start, end, value: text.slice(start, end) }
}

function spansIn(name: string, { isFound, isAbout }: MailboxContext): Span[] {
  const written = ({ start, end }: Span) => name.slice(start, end)
  const tokens = [
    ...spansOf(tag, name),
    ...spansOf(part, name).filter((span) => /\d/.test(written(span))),
  ].filter((span) => isRandomLooking(written(span)))
  const values = [...spansOf(labelled, name), ...(isAbout && !isFound ? spansOf(short, name) : [])]
  return [
    ...values.filter((span) => !isUsual(written(span))),
    ...(isFound || isAbout || speaking.test(name) ? tokens : []),
  ]
}

/** Returns true for a year, and for a word with at most one digit. */
function isUsual(value: string): boolean {
  return isYear(value) || !/\d.*\d/.test(value)
}
