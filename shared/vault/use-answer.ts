/**
 * The answer of a site as an agent is shown it: text alone, without the secrets that went there and
 * without the headers of the connection. A redirect is told and never followed.
 */
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'
import type { Fetched } from '../egress/safe-fetch.ts'
import { cut } from '../mail/untrusted.ts'
import type { Scrubber } from './scrub.ts'
import type { Used } from './use-port.ts'

const headersMax = 64
const headerNameMax = 256
const headerCharactersMax = 8_192

/** RFC 9110 section 7.6.1, and what tells of the transfer and not of what was transferred. */
const ofTheConnection =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|content-encoding|accept-ranges|alt-svc|nel|report-to|via|set-cookie)$/

/**
 * Made of the whole answer: beside an answer without its secret, one of these tells which guess at the
 * secret is right, as often as anybody can hash (RFC 9110 section 8.8.3, RFC 9530).
 */
const ofTheContent = /^etag$|digest|md5|sha[0-9]|hash|checksum|crc|signature/

/** What came of a request whose secrets the scrubber knows. */
export async function answerOf(
  fetched: Fetched,
  scrub: Scrubber,
): Promise<Used | Refusal<'site_unavailable'>> {
  switch (fetched.kind) {
    case 'answered':
      return shown(fetched, scrub)
    case 'redirected':
      return shown({ ...fetched, body: new Uint8Array(), truncated: false }, scrub)
    case 'timeout':
      return unavailable('The site did not answer in time.')
    case 'refused':
      return unavailable(fetched.reason)
    case 'unreachable':
      return { ...unavailable('The site could not be reached.'), log: fetched.reason }
  }
}

/** It was sent: nobody can say that it had no effect. */
function unavailable(message: string): Refusal<'site_unavailable'> {
  return fail('site_unavailable', {
    message: `${message} It may have received the request.`,
    hint: 'Look at the site for what came of it before you send it again.',
  })
}

function isPassedOn([name]: [string, string]): boolean {
  return name.length <= headerNameMax && !ofTheConnection.test(name)
}

type Answered = { status: number; headers: Headers; body: Uint8Array; truncated: boolean }

async function shown(
  { status, headers, body, truncated }: Answered,
  scrub: Scrubber,
): Promise<Used> {
  const cookies = headers.getSetCookie().map((value) => ['set-cookie', value] as const)
  const others = [...headers].filter(isPassedOn).slice(0, headersMax)
  const raw = { headers: [...cookies, ...others], body, truncated }
  const whole = await scrub(raw)
  const isText = !('withheld' in whole && whole.withheld === 'not_text')
  // Headers are text, whatever they come with.
  const kept = isText ? whole : await scrub({ ...raw, body: new Uint8Array(), truncated: false })
  const nothing = { status, headers: {}, cookies: [], body: '', truncated }
  if ('withheld' in kept) return { response: nothing, removed: 0, withheld: kept.withheld }
  const lines = kept.headers.map(([name, value]): [string, string] => [
    name,
    cut(value, headerCharactersMax).toWellFormed(),
  ])
  const isSeen = isText && !truncated && body.length > 0 && kept.removed === 0
  const rest = new Map(
    lines.slice(cookies.length).filter(([name]) => isSeen || !ofTheContent.test(name)),
  )
  const location = rest.get('location')
  rest.delete('location')
  return {
    response: {
      ...nothing,
      headers: Object.fromEntries(rest),
      cookies: lines.slice(0, cookies.length).map(([, value]) => value),
      body: kept.body,
      ...(location === undefined ? {} : { location }),
    },
    removed: kept.removed,
    ...(isText ? {} : { withheld: 'not_text' as const }),
  }
}
