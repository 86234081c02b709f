/**
 * The answer of a site as an agent is shown it: text alone, without the secrets that went there and
 * without the headers of the connection. A redirect is told and never followed.
 */
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'
import type { Fetched } from '../egress/safe-fetch.ts'
import type { Scrubber } from './scrub.ts'
import type { Used } from './use-port.ts'

const headersMax = 64
const headerCharactersMax = 8_192

/** RFC 9110 section 7.6.1, and what tells of the transfer and not of what was transferred. */
const ofTheConnection =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|content-encoding|accept-ranges|alt-svc|nel|report-to|via|set-cookie)$/

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

type Answered = { status: number; headers: Headers; body: Uint8Array; truncated: boolean }

async function shown({ status, headers, body, truncated }: Answered, scrub: Scrubber) {
  const cookies = headers.getSetCookie().map((value) => ['set-cookie', value] as const)
  const others = [...headers].filter(([name]) => !ofTheConnection.test(name)).slice(0, headersMax)
  const raw = { headers: [...cookies, ...others], body, truncated }
  const whole = await scrub(raw)
  const isText = !('withheld' in whole)
  const kept =
    isText || whole.withheld === 'short_secret'
      ? whole
      : await scrub({ ...raw, body: new Uint8Array(), truncated: false })
  const nothing: Used = { status, headers: {}, cookies: [], body: '', truncated, removed: 0 }
  if ('withheld' in kept) return { ...nothing, withheld: kept.withheld }
  const lines = kept.headers.map(
    ([name, value]) => [name, value.slice(0, headerCharactersMax)] as const,
  )
  const named: Record<string, string> = Object.fromEntries(lines.slice(cookies.length))
  const { location, ...rest } = named
  return {
    ...nothing,
    headers: rest,
    cookies: lines.slice(0, cookies.length).map(([, value]) => value),
    body: kept.body,
    removed: kept.removed,
    ...(location === undefined ? {} : { location }),
    ...(isText ? {} : { withheld: 'not_text' as const }),
  }
}
