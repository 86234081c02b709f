/**
 * Finds links that sign somebody in, or let whoever opens them confirm, reset or join. Such a link
 * contains a secret, and its address or the words around it say what it does. A link that ends a
 * subscription does not count, whatever it contains.
 */
import { trimEndOf } from '../../text/untrusted.ts'
import { registrableDomain } from '../registrable-domain.ts'
import type { Surroundings } from './code-context.ts'
import type { CodePlace } from './code-places.ts'
import { isRandomLooking, isYear } from './random-text.ts'
import { isTouched, type Span, spansOf } from './text-lines.ts'
import { unsubscribeWords } from './words.ts'

/**
 * An address from the end of its scheme to the character that ends it in text, such as a Chinese or
 * Japanese punctuation mark. The scheme is read backwards, so that each character is read once.
 */
const address =
  /(?::\/\/|www\.|mailto:)(?:[^\s<>"'`\u3000-\u303f\uff00-\uffef]|['`](?=[\w%/?&=-])){3,}/gi
/** An address without a scheme: a host with a path. */
const bareAddress =
  /(?<![^\s(["'<])[a-z0-9](?:[a-z0-9-]{0,62}\.){1,5}[a-z]{2,12}\/[^\s<>"'`\u3000-\u303f\uff00-\uffef]{3,}/gi
/** A mail address with a token behind `+` or `=`, as addresses that confirm something have. */
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
/** Names of parameters in an address whose value opens something. */
const keyName = /[?&#;](?:\w{0,20}_)?(?:token|key|otp|secret|nonce)=\w/i
/** A user and a password in front of a host. */
const hasPassword = /^[a-z0-9+.-]{1,31}:\/\/[^\s/?#:@]{1,64}:[^\s/?#@]{3,}@/i
/** Names of parameters in an address whose value is a number but no secret. */
const numberName =
  /id$|^(?:p|page|u|user|order|topic|rev|revision|year|month|day|no?|num|number|count|size|w|h|v|version|c|post|utm_\w+|expires?|exp|ts|time|date)$/i
const leaving =
  /unsub|opt-?out|preferences|abmeld|list-?remove|remove-?me|unregister|desinscri|baja/i

/** Words for what a link gives to whoever opens it: a ticket, a shared file, a document to sign. */
const accepting =
  /(?<!\p{L})(?:accept|claim|redeem|shared? (?:a|an|the|this|\d{1,3}) |sign (?:the|your|this|it)|review (?:and sign|document))|geteilt|unterschreib|unterzeichn|partage|signer|compart|firma[rt]|firmar|condivis|gedeeld|onderteken|udostepn|podpis|подпис|поделил|assina[rt]|download|herunterlad|telecharg|descarg|scaric|pobierz|скача|下载|下載|ダウンロード|다운로드|共有|署名|分享|共享|签署|簽署|공유|서명/u

/** The path of an address, and the rest that follows it. */
const partsOf = /^(?:[a-z0-9+.-]{0,31}:\/\/)?[^/?#]*([^?#]*)(.*)$/is
/** The part of a mail address behind `+` or `=`. */
const tagOf = /^[\w.-]{1,64}[+=]([\w.+=-]{8,128})@/
/** The next line, where it continues an address that was broken because of its length. */
const restOfAddress = /^\n[\w%&=.~/?#+-]{8,512}(?=\n|$)/
const brokenFrom = 50

/** Punctuation at the end of an address that belongs to the sentence. */
const marks = '.,;:!?)]}'

/** Number of characters before a link that are searched for words about it. */
const reach = 160

/** Returns all addresses of a text. */
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
    // The text of a link can be an address itself: take the text, and the target.
    const own = whole.split('](', 1)[0] ?? ''
    const behind = start + own.length + 2
    const target = targetIn(text.slice(behind, Math.max(behind, end)))
    return [
      { start, end: start + trimEndOf(own, marks).length },
      ...(target.includes('://') ? [{ start: behind, end: behind + target.length }] : []),
    ]
  })
}

/** Returns the length of the next line if the address continues there: a token that did not fit. */
function restLength(text: string, start: number, end: number): number {
  if (end - start < brokenFrom) return 0
  const rest = restOfAddress.exec(text.slice(end, end + 520))?.[0] ?? ''
  return isRandomLooking(rest) ? rest.length : 0
}

const targetIn = (whole: string) => whole.slice(0, whole.search(/\)|$/))

/** Returns where the scheme (RFC 3986 section 3.1) before `://` begins, or undefined if there is none. */
function schemeStart(text: string, at: number): number | undefined {
  if (!text.startsWith('://', at)) return at
  const before = text.slice(Math.max(0, at - schemeLengthMax), at)
  const scheme = /[a-z][a-z0-9+.-]{0,30}$/i.exec(before)?.[0]
  return scheme === undefined ? undefined : at - scheme.length
}

/** Decides whether a link signs somebody in. `place` is where it is in the folded text. */
export function signsIn(
  url: string,
  place: Span,
  { text, names, secretNames, actions, isAboutCodes }: Surroundings,
): boolean {
  const isLong = hasSecret(url)
  const isSpeaking = speaking.test(url)
  if (hasPassword.test(url)) return true
  if (!hasToken(url)) return false
  const near = { start: Math.max(0, place.start - reach), end: place.start }
  const lead = text.slice(near.start, near.end).split('\n').slice(-2).join('\n')
  const label = lead.slice(lead.lastIndexOf('\n') + 1)
  if (isOfLeaving(url) && !/token=|verif|reset|magic|confirm|delet/i.test(url)) return false
  const isSpokenOf =
    [names, secretNames, actions].some((words) => isTouched(words, near)) ||
    accepting.test(text.slice(Math.max(0, place.start - 240), place.start))
  const left = spansOf(unsubscribeWords, label).at(-1)
  if (left) {
    const behind = { start: place.start - label.length + left.end, end: place.start }
    const isPassed = [names, secretNames, actions].some((words) => isTouched(words, behind))
    if (!isPassed && (isOfLeaving(url) || !speaking.test(linkPath(url)))) return false
  }
  if (keyName.test(url) && hasRandomPart(url)) return true
  if (isSpokenOf || isSpeaking) return isSpeaking || isLong || !isOfThing(url)
  // A link with a short token leads to many kinds of page. It counts only where the text points at it.
  return isAboutCodes && (isLong || (hasShortToken(url) && isPointedAt(label)))
}

/** Returns true if a part of the address could be a secret. */
export function hasToken(url: string): boolean {
  return hasSecret(url) || hasShortToken(url) || hasRandomPart(url)
}

const linkPath = (url: string) => partsOf.exec(url)?.[1] ?? ''

/** Returns true if the path, or a value that is not itself an address, is about leaving a list. */
function isOfLeaving(url: string): boolean {
  const [, path = '', query = ''] = partsOf.exec(url) ?? []
  const values = query.split(/[?#&;]/).filter((pair) => !/\/|%2f/i.test(pair))
  return [path, ...values].some((part) => leaving.test(part))
}

/** Returns true if the link begins its line, or a colon is right before it or its text. */
function isPointedAt(label: string): boolean {
  const words = label.endsWith('](') ? label.slice(0, Math.max(0, label.lastIndexOf('['))) : label
  return /^$|[:：]$/.test(trimEndOf(words, ' \t<(*_'))
}

/** Returns true if a part of the address looks random, or 5 characters have a name such as token. */
function hasSecret(url: string): boolean {
  const [, path = '', query = ''] = partsOf.exec(url) ?? []
  const tag = tagOf.exec(url)?.[1]
  if (tag !== undefined) return isRandomLooking(tag)
  const parts = query.split(/[?#&;]/).map((pair) => pair.split('='))
  const isNamed = parts.some(
    ([name = '', ...value]) => secretName.test(name) && /^.{5,}$/.test(value.join('=')),
  )
  const values = [
    ...path.split('/'),
    ...parts.flatMap((pair) => [pair.slice(1).join('='), pair[0] ?? '']),
  ]
  return isNamed || values.some(isRandomLooking)
}

/** Returns true if the path ends in a short token, or a value is one, with cases mixed as in no words. */
function hasShortToken(url: string): boolean {
  const [, path = '', query = ''] = partsOf.exec(url) ?? []
  const values = query.split(/[?#&;]/).map((pair) => pair.split('=').slice(1).join('='))
  const ending = path.split('/').findLast((part) => part !== '') ?? ''
  return [ending, ...values].some((value) => /^[\w-]{5,24}$/.test(value) && isMixed(value))
}

/** Returns true if the path ends in, or a value is, two kinds of characters, or digits as of a code. */
function hasRandomPart(url: string): boolean {
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

/** Returns true for a word with a number, or words written together, as in Windows11 and HelpCenter. */
const isWordOf = (value: string) =>
  /^[A-Z]?[a-z]{3,}\d{1,2}$|^[a-z]{3,}\d+$/.test(value) ||
  (/^[A-Za-z]+$/.test(value) && /[a-z]/.test(value) && !isMixed(value))

/** Returns true if the path ends in an article or item number of only capitals and digits. */
function isOfThing(url: string): boolean {
  return /\/(?:item|product|article|order|dp|sku|p)s?\/[A-Z0-9]{4,16}(?:$|[?#])/.test(url)
}

/** Returns true for mixed case that is not that of words written together, as in HelpCenter. */
function isMixed(value: string): boolean {
  if (!/[a-z]/.test(value) || !/[A-Z]/.test(value)) return false
  const parts = value.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []
  const isWord = (part: string, at: number) =>
    /^[A-Z]?[a-z]*[aeiouy]/.test(part)
      ? part.length > 2
      : /^\d{1,4}$/.test(part) && at === parts.length - 1
  return !parts.every(isWord)
}

/** Maximum number of addresses that are read in a mail, and of hosts that its codes may have. */
const addressesMax = 1_000
const hostsMax = 20

/** Returns the hosts, the sender's first; none if nothing proves who sent the mail. */
export function codeHosts(
  { from, provenDomain: domain }: { from: string; provenDomain?: string | undefined },
  texts: readonly string[],
): string[] {
  if (domain === undefined) return []
  const sender = from.slice(from.lastIndexOf('@') + 1)
  const linked = texts
    .flatMap((text) => addressesIn(text).map(({ start, end }) => text.slice(start, end)))
    .slice(0, addressesMax)
    .flatMap((address) => linkHost(address) ?? [])
    .filter((host) => isOf(domain, host))
  return [...new Set([sender, ...linked])].slice(0, hostsMax)
}

function linkHost(address: string): string | undefined {
  const url = URL.parse(address)
  return url?.protocol === 'https:' ? url.hostname : undefined
}

/** Returns true if a domain covers a host. An operator covers its customers, but they do not cover each other. */
function isOf(domain: string, host: string): boolean {
  const own = registrableDomain(host)
  return own !== undefined && (own === domain || own.endsWith(`.${domain}`))
}

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
const speakingName =
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
    ...(isFound || isAbout || speakingName.test(name) ? tokens : []),
  ]
}

/** Returns true for a year, and for a word with at most one digit. */
function isUsual(value: string): boolean {
  return isYear(value) || !/\d.*\d/.test(value)
}
