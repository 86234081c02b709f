/**
 * The answer of a site as it is shown to an agent: text only, without the secrets of the request and
 * without connection headers. A redirect is reported and not followed.
 */
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'
import type { Fetched } from '../egress/safe-fetch.ts'
import { cut } from '../mail/untrusted.ts'
import type { Scrubber } from './scrub.ts'
import type { SiteAnswer } from './use-port.ts'

const headersMax = 64
const headerNameMax = 256
const headerCharactersMax = 8_192

/** Connection headers (RFC 9110 section 7.6.1), and headers about the transfer, not the content. */
const ofTheConnection =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|content-encoding|accept-ranges|alt-svc|nel|report-to|via|set-cookie)$/

/**
 * Headers that are computed from the whole answer. If the answer is shown without its secret, an agent
 * could check guesses at the secret against one of them offline (RFC 9110 section 8.8.3, RFC 9530).
 */
const ofTheContent = /^etag$|digest|md5|sha[0-9]|hash|checksum|crc|signature/

/** Turns the outcome of a request into the agent's answer; the scrubber knows the request's secrets. */
export async function siteAnswerOf(
  fetched: Fetched,
  scrub: Scrubber,
): Promise<SiteAnswer | Refusal<'site_unavailable'>> {
  switch (fetched.kind) {
    case 'answered':
      return scrubAnswer(fetched, scrub)
    case 'redirected':
      return scrubAnswer({ ...fetched, body: new Uint8Array(), truncated: false }, scrub)
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

function isPassedOn([name]: [string, string]): boolean {
  return name.length <= headerNameMax && !ofTheConnection.test(name)
}

type Answered = { status: number; headers: Headers; body: Uint8Array; truncated: boolean }

async function scrubAnswer(
  { status, headers, body, truncated }: Answered,
  scrub: Scrubber,
): Promise<SiteAnswer> {
  const cookies = headers.getSetCookie().map((value) => ['set-cookie', value] as const)
  const others = [...headers].filter(isPassedOn).slice(0, headersMax)
  const raw = { headers: [...cookies, ...others], body, truncated }
  const whole = await scrub(raw)
  const isText = !('withheld' in whole && whole.withheld === 'not_text')
  // Headers can be shown even if the body is not text.
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
