/**
 * The answer of a site as it is shown to an agent. Of a request that carried a password or a code it is the
 * status, the path of a redirect and a few headers. Of others it is the text without the secrets and without
 * connection headers. A redirect is reported and not followed.
 */
import { fail, type Refusal } from '../contract/errors.ts'
import type { Fetched } from '../egress/safe-fetch.ts'
import { cut } from '../text/untrusted.ts'
import { charactersTaken, redactorFor } from './scrub.ts'
import type { SiteAnswer } from './use-port.ts'

const headersMax = 64
const headerNameMax = 256
const headerCharactersMax = 8_192

/** Connection headers (RFC 9110 section 7.6.1), and headers about the transfer, not the content. */
const ofTheConnection =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|content-encoding|accept-ranges|alt-svc|nel|report-to|via|set-cookie|location)$/

/**
 * Headers that are computed from the whole answer. If the answer is shown without its secret, an agent
 * could check guesses at the secret against one of them offline (RFC 9110 section 8.8.3, RFC 9530).
 */
const ofTheContent = /^etag$|digest|md5|sha[0-9]|hash|checksum|crc|signature/

/** Headers that are shown of an answer that is not, since no site puts its input into them. */
const ofEveryAnswer = ['content-type', 'date', 'retry-after']

/** Secrets of a request, and the reason not to show its answer, if there is one. */
export type Carried = { secrets: readonly string[]; withheld?: SiteAnswer['withheld'] | undefined }

/** Turns the outcome of a request into the agent's answer. */
export function siteAnswerOf(
  fetched: Fetched,
  carried: Carried,
): SiteAnswer | Refusal<'site_unavailable'> {
  switch (fetched.kind) {
    case 'answered':
      return showAnswer(fetched, carried)
    case 'redirected':
      return showAnswer({ ...fetched, body: new Uint8Array(), truncated: false }, carried)
    case 'timeout':
      return unavailable('The site did not answer in time.')
    case 'refused':
      return unavailable(fetched.reason)
    case 'unreachable':
      return { ...unavailable('The site could not be reached.'), log: fetched.reason }
  }
}

/** Returns the refusal after a request was sent, which may have had an effect. */
function unavailable(message: string): Refusal<'site_unavailable'> {
  return fail('site_unavailable', {
    message: `${message} It may have received the request.`,
    hint: 'Look at the site for what came of it before you send it again.',
  })
}

type Answered = { status: number; headers: Headers; body: Uint8Array; truncated: boolean }

function showAnswer(answered: Answered, { secrets, withheld }: Carried): SiteAnswer {
  return withheld === undefined ? showText(answered, secrets) : hide(answered, secrets, withheld)
}

/** Shows the status, the path of a redirect unless it repeats a secret, and a few headers. */
function hide(
  { status, headers }: Answered,
  secrets: readonly string[],
  withheld: NonNullable<SiteAnswer['withheld']>,
): SiteAnswer {
  const kept = ofEveryAnswer.flatMap((name): [string, string][] => {
    const value = headers.get(name)
    return value === null ? [] : [[name, cut(value, headerNameMax)]]
  })
  const location = withoutQuery(headers.get('location') ?? '')
  const repeats = redactorFor(secrets)(location).removed > 0
  const led = location === '' || repeats ? {} : { location }
  const empty = { cookies: [], body: '', truncated: false }
  const response = { status, headers: Object.fromEntries(kept), ...empty, ...led }
  return { response, removed: 0, withheld }
}

/** Returns an address without query and fragment. */
export function withoutQuery(location: string): string {
  return cut(location.replace(/[?#].*$/s, ''), headerCharactersMax).toWellFormed()
}

function showText(answered: Answered, secrets: readonly string[]): SiteAnswer {
  const { status, headers, truncated } = answered
  const redact = redactorFor(secrets)
  let removed = 0
  const show = (text: string) => {
    const shown = redact(text)
    removed += shown.removed
    return shown.text
  }
  const line = (value: string) => cut(show(value), headerCharactersMax).toWellFormed()
  const cookies = headers.getSetCookie().map(line)
  const body = answerBody(answered, secrets, show)
  const others = [...headers].filter(isPassedOn).slice(0, headersMax)
  const lines = others.map(([name, value]) => [show(name), line(value)] as const)
  const location = headers.get('location')
  const led = location === null ? {} : { location: line(location) }
  const isWhole = body !== undefined && body !== '' && !truncated && removed === 0
  const shown = lines.filter(([name]) => isWhole || !ofTheContent.test(name))
  const response = { status, headers: Object.fromEntries(shown), cookies, truncated, ...led }
  return {
    response: { ...response, body: body ?? '' },
    removed,
    ...(body === undefined ? { withheld: 'not_text' as const } : {}),
  }
}

function isPassedOn([name]: [string, string]): boolean {
  return name.length <= headerNameMax && !ofTheConnection.test(name)
}

/** Returns the text without secrets and, if it was cut, without its end, which may hold a part of one. */
function answerBody(
  answered: Answered,
  secrets: readonly string[],
  show: (text: string) => string,
): string | undefined {
  const read = readAnswerText(answered)
  if (read === undefined) return undefined
  const redact = redactorFor(secrets)
  if (redact(read.bytes).removed > redact(read.text).removed) return undefined
  const tail = answered.truncated ? Math.max(0, ...secrets.map(charactersTaken)) : 0
  const shown = show(read.text)
  return tail === 0 ? shown : shown.slice(0, -tail)
}

type Answer = { body: Uint8Array; headers: Headers; truncated: boolean }

/**
 * Returns the body as text, undefined if it is not. `bytes` is the body with one character for each byte if
 * it is not UTF-8: a secret may be readable there and not in the text that the named encoding makes of it.
 */
export function readAnswerText({
  body,
  headers,
  truncated,
}: Answer): { text: string; bytes: string } | undefined {
  const label = markOf(body) ?? charsetOf(headers) ?? 'utf-8'
  try {
    const decoder = new TextDecoder(label, { fatal: true, ignoreBOM: true })
    const text = decoder.decode(body, { stream: truncated })
    const isUtf8 = decoder.encoding === 'utf-8'
    // UTF-16 without a name is UTF-8 with a null between two letters.
    if (isUtf8 && text.includes('\0')) return undefined
    return { text, bytes: isUtf8 ? '' : new TextDecoder('latin1').decode(body) }
  } catch {
    return undefined
  }
}

/** A byte order mark outranks the header (https://encoding.spec.whatwg.org/#decode). */
function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined
}

function charsetOf(headers: Headers): string | undefined {
  const type = headers.get('content-type') ?? ''
  return /;\s*charset\s*=\s*"?([A-Za-z0-9_:.-]{1,40})/i.exec(type)?.[1]
}
