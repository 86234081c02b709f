/**
 * Links that sign somebody in, or let the one who opens them confirm, reset or join: those that
 * carry a secret and speak of such a thing themselves or in the words around them. A link that ends
 * a subscription is none, whatever it carries.
 */

import { trimEndOf } from '../trim-end.ts'
import type { Surroundings } from './code-context.ts'
import { unsubscribeWords } from './code-words.ts'
import type { Span } from './spans.ts'
import { isTouched, spansOf } from './spans.ts'

/**
 * An address from what follows its scheme to what ends it in text; marks of Chinese and Japanese
 * sentences do, too. The scheme is read backwards, so that each sign is looked at once.
 */
const address =
  /(?::\/\/|www\.|mailto:)(?:[^\s<>"'`\u3000-\u303f\uff00-\uffef]|['`](?=[\w%/?&=-])){3,}/gi
/** One without its scheme: a host with a path. */
const bareAddress =
  /(?<![^\s(["'<])[a-z0-9](?:[a-z0-9-]{0,62}\.){1,5}[a-z]{2,12}\/[^\s<>"'`\u3000-\u303f\uff00-\uffef]{3,}/gi
/** An address of mail that carries something behind a sign, as those that confirm do. */
const taggedMailbox =
  /(?<![\w.+=-])[\w.-]{1,64}[+=][\w.+=-]{8,128}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,5}/gi
const schemeLengthMax = 31

const speaking = new RegExp(
  `log-?in|sign-?in|sign-?on|sign-?up|signup|auth|magic|verif|confirm|activat|reset|recover|passw|
  |pwd|invit|accept|join|token|otp|oob|one-?time|sso|session|unlock|approve|validat|regist|
  |email-?change|double-?opt|secret|claim|change[-_]?(?:e?mail|pass|pw)|set-?up|onboard|welcome|grant|share|passcode|access|anmeld|bestaetig|connexion|acceso|ticket-?login`.replaceAll(
    /\s+\|?/g,
    '',
  ),
  'i',
)
const secretName =
  /(?:^|[_-])(code|otp|token|key|t|k|sig|signature|pin|ticket|secret|nonce|c|u|hash|h|id)$/i
/** Names in an address of what opens something. */
const keyName = /[?&#;](?:\w{0,20}_)?(?:token|key|otp|secret|nonce)=\w/i
/** Names in an address of numbers that are no secret. */
const numberName =
  /id$|^(?:p|page|u|user|order|topic|rev|revision|year|month|day|no?|num|number|count|size|w|h|v|version|c|post|utm_\w+|expires?|exp|ts|time|date)$/i
const leaving =
  /unsub|opt-?out|preferences|abmeld|list-?remove|remove-?me|unregister|desinscri|baja/i

/** The path of an address, and what follows it. */
const partsOf = /^(?:[a-z0-9+.-]{0,31}:\/\/)?[^/?#]*([^?#]*)(.*)$/is
/** What of an address of mail stands behind such a sign. */
const tagOf = /^[\w.-]{1,64}[+=]([\w.+=-]{8,128})@/
/** What of a line goes on with an address that was broken for its length. */
const restOfAddress = /^\n[\w%&=.~/?#+-]{8,512}(?=\n|$)/
const brokenFrom = 50

/** Signs at the end of an address that are the sentence's. */
const marks = '.,;:!?)]}'

/** Characters of text before a link, and in its line, that may speak of it. */
const reach = 160

/** All addresses of a text. */
export function addressesIn(text: string): Span[] {
  const whole = wholeAddressesIn(text)
  const others = [...spansOf(bareAddress, text), ...spansOf(taggedMailbox, text)]
    .filter((span) => !isTouched(whole, span))
    .map(({ start, end }) => ({
      start,
      end: start + trimEndOf(text.slice(start, end), marks).length,
    }))
  return [...whole, ...others].toSorted((a, b) => a.start - b.start)
}

function wholeAddressesIn(text: string): Span[] {
  return spansOf(address, text).flatMap((found) => {
    const start = schemeStart(text, found.start)
    if (start === undefined) return []
    const end = found.end + restLength(text, start, found.end)
    const isTarget = text.slice(start - 2, start) === ']('
    const whole = text.slice(start, end)
    if (isTarget) return [{ start, end: start + targetIn(whole).length }]
    // A link whose text is an address itself: the text, and where it leads.
    const own = whole.split('](', 1)[0] ?? ''
    const behind = start + own.length + 2
    const target = targetIn(text.slice(behind, Math.max(behind, end)))
    return [
      { start, end: start + trimEndOf(own, marks).length },
      ...(target.includes('://') ? [{ start: behind, end: behind + target.length }] : []),
    ]
  })
}

/** How much of the next line an address goes on with: a token that does not fit on its own. */
function restLength(text: string, start: number, end: number): number {
  if (end - start < brokenFrom) return 0
  const rest = restOfAddress.exec(text.slice(end, end + 520))?.[0] ?? ''
  return isStrange(rest) ? rest.length : 0
}

const targetIn = (whole: string) => whole.slice(0, whole.search(/\)|$/))

/** Where the scheme (RFC 3986 section 3.1) before `://` begins; undefined where there is none. */
function schemeStart(text: string, at: number): number | undefined {
  if (!text.startsWith('://', at)) return at
  const before = text.slice(Math.max(0, at - schemeLengthMax), at)
  const scheme = /[a-z][a-z0-9+.-]{0,30}$/i.exec(before)?.[0]
  return scheme === undefined ? undefined : at - scheme.length
}

/** Those that sign in; `folded` is what stands before each in the folded text. */
export function signsIn(
  url: string,
  place: Span,
  { text, names, secretNames, actions, isAboutCodes }: Surroundings,
): boolean {
  const isLong = hasSecret(url)
  const isSpeaking = speaking.test(url)
  if (!isLong && !hasShortToken(url) && !hasDrawnPart(url)) return false
  const near = { start: Math.max(0, place.start - reach), end: place.start }
  const lead = text.slice(near.start, near.end).split('\n').slice(-2).join('\n')
  const label = lead.slice(lead.lastIndexOf('\n') + 1)
  if (isOfLeaving(url) && !/token=|verif|reset|magic|confirm|delet/i.test(url)) return false
  const isSpokenOf = [names, secretNames, actions].some((words) => isTouched(words, near))
  const left = spansOf(unsubscribeWords, label).at(-1)
  if (left) {
    const behind = { start: place.start - label.length + left.end, end: place.start }
    const isPassed = [names, secretNames, actions].some((words) => isTouched(words, behind))
    if (!isPassed && (isOfLeaving(url) || !speaking.test(pathOf(url)))) return false
  }
  if (keyName.test(url) && hasDrawnPart(url)) return true
  if (isSpokenOf || isSpeaking) return isSpeaking || isLong || !isOfThing(url)
  // A short one leads to many a page, and is taken for a key only where the text points at it.
  return isAboutCodes && (isLong || (hasShortToken(url) && isPointedAt(label)))
}

const pathOf = (url: string) => partsOf.exec(url)?.[1] ?? ''

/** Whether the path, or a value that is no address itself, is of leaving a list. */
function isOfLeaving(url: string): boolean {
  const [, path = '', query = ''] = partsOf.exec(url) ?? []
  const values = query.split(/[?#&;]/).filter((pair) => !/\/|%2f/i.test(pair))
  return [path, ...values].some((part) => leaving.test(part))
}

/** Whether a line begins with the link, or a colon stands right before it or its text. */
function isPointedAt(label: string): boolean {
  const words = label.endsWith('](') ? label.slice(0, Math.max(0, label.lastIndexOf('['))) : label
  return /^$|[:：]$/.test(trimEndOf(words, ' \t<(*_'))
}

/** Whether something in the address is long and strange enough to be a secret. */
function hasSecret(url: string): boolean {
  const [, path = '', query = ''] = partsOf.exec(url) ?? []
  const tag = tagOf.exec(url)?.[1]
  if (tag !== undefined) return isStrange(tag)
  const parts = query.split(/[?#&;]/).map((pair) => pair.split('='))
  const isNamed = parts.some(
    ([name = '', ...value]) => secretName.test(name) && /^.{5,}$/.test(value.join('=')),
  )
  const values = [
    ...path.split('/'),
    ...parts.flatMap((pair) => [pair.slice(1).join('='), pair[0] ?? '']),
  ]
  return isNamed || values.some(isStrange)
}

/** Twelve signs or more that are no words: letters with several digits among them, or cases mixed. */
function isStrange(value: string): boolean {
  const signs = value.replaceAll(/[^A-Za-z0-9]/g, '')
  if (signs.length < 12) return false
  const changes = value.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])/g) ?? []
  return changes.length >= 3 || /^\d{12,}$|^[a-z]{18,}$/.test(value.includes('-') ? '' : signs)
}

/** Few signs at the end of a path, or as a value, with the cases mixed as in no words. */
function hasShortToken(url: string): boolean {
  const [, path = '', query = ''] = partsOf.exec(url) ?? []
  const values = query.split(/[?#&;]/).map((pair) => pair.split('=').slice(1).join('='))
  const ending = path.split('/').findLast((part) => part !== '') ?? ''
  return [ending, ...values].some((value) => /^[\w-]{5,24}$/.test(value) && isMixed(value))
}

/** At the end or as a value: signs of two kinds together, or digits as a code has. */
function hasDrawnPart(url: string): boolean {
  const [, path = '', query = ''] = partsOf.exec(url) ?? []
  const pairs = query.split(/[?#&;]/).map((pair) => pair.split('='))
  const values = pairs.map(([first = '', ...rest]) => rest.join('=') || first)
  const ending =
    path
      .replace(/\.[a-z]{2,4}$/, '')
      .split('/')
      .findLast((part) => part !== '') ?? ''
  return (
    pairs.some(([name = '', value = '']) => /^\d{4,10}$/.test(value) && !numberName.test(name)) ||
    [ending, ...values].some(
      (value) => /^\w{5,64}$/.test(value) && isOfKinds(value) && !isWordOf(value),
    )
  )
}

const isOfKinds = (value: string) =>
  [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(value)).length > 1 || /^[A-Z]+$/.test(value)

/** A word with a number, or words written together, as Windows11 and HelpCenter. */
const isWordOf = (value: string) =>
  /^[A-Z]?[a-z]{3,}\d{1,2}$|^[a-z]{3,}\d+$/.test(value) ||
  (/^[A-Za-z]+$/.test(value) && /[a-z]/.test(value) && !isMixed(value))

/** Whether the end is an article or a thing that is shown, which has capitals and digits alone. */
function isOfThing(url: string): boolean {
  return /\/(?:item|product|article|order|dp|sku|p)s?\/[A-Z0-9]{4,16}(?:$|[?#])/.test(url)
}

/** Small and capital letters that are not those of words written together, as in HelpCenter. */
function isMixed(value: string): boolean {
  if (!/[a-z]/.test(value) || !/[A-Z]/.test(value)) return false
  const parts = value.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []
  const isWord = (part: string, at: number) =>
    /^[A-Z]?[a-z]*[aeiouy]/.test(part)
      ? part.length > 2
      : /^\d{1,4}$/.test(part) && at === parts.length - 1
  return !parts.every(isWord)
}
