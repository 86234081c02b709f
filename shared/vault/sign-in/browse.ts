/**
 * Requests a page of a site as a browser without scripts does: with the session's cookies, and following
 * redirects within the origin. A secret is sent once: a redirect that would repeat it, or that leads to
 * another site, is reported and not followed.
 */
import { type Fetched, safeFetch } from '../../egress/safe-fetch.ts'
import type { World } from '../../world.ts'
import { readAnswerText } from '../answer-text.ts'
import { redactorFor } from '../scrub.ts'
import { type Cookie, cookieHeader, keptCookies } from './cookies.ts'
import { formsOf, type PageForm } from './page-forms.ts'
import type { Submission } from './submission.ts'

const bytesMax = 256 * 1024
const requestMilliseconds = 20_000
/** Time for all requests of one call of an agent. */
export const visitMilliseconds = 45_000
const redirectsMax = 6

/** Result of a request: the last answer with its address, and the session's cookies after it. */
export type Browsed = {
  fetched: Fetched
  url: URL
  cookies: Cookie[]
  forms: PageForm[]
  /** Number of redirects that were followed. */
  redirects: number
}

/** A request; `from` is the page with the form that is sent. */
export type Request = Submission & { from?: string | undefined }

/** Cookies of the session, the deadline in milliseconds of the epoch, and texts that no address may hold. */
type Browsing = { cookies: readonly Cookie[]; endsAt: number; secrets: readonly string[] }

/** Sends a request and follows its redirects, except to an address that repeats a secret. */
export async function browse(
  world: World,
  request: Request,
  { cookies, endsAt, secrets }: Browsing,
): Promise<Browsed> {
  const redact = redactorFor(secrets)
  let [next, jar] = [request, [...cookies]]
  for (let redirects = 0; ; redirects += 1) {
    const { url } = next
    const left = Math.max(1, endsAt - world.now().getTime())
    const limits = { timeoutMilliseconds: Math.min(requestMilliseconds, left), bytesMax }
    const fetched = await safeFetch(world, requestOf(world, next, jar), limits)
    if (fetched.kind !== 'answered' && fetched.kind !== 'redirected') {
      return { fetched, url, cookies: jar, forms: [], redirects }
    }
    jar = keptCookies(jar, fetched.headers, url, world.now().getTime())
    const on = fetched.kind === 'redirected' ? ledOn(next, fetched) : undefined
    const isTelling = on !== undefined && redact(on.url.href).removed > 0
    if (on === undefined || isTelling || redirects === redirectsMax) {
      const forms = formsIn(fetched, url)
      return { fetched, url, cookies: jar, forms, redirects }
    }
    next = on
  }
}

function requestOf(world: World, { url, method, body, from }: Request, jar: readonly Cookie[]) {
  const cookie = cookieHeader(jar, url, world.now().getTime())
  const headers: [string, string][] = [
    ['accept', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'],
    ['accept-language', 'en'],
    ['user-agent', 'Mozilla/5.0 (compatible; AgentOperatingAccount)'],
  ]
  // Sites compare both with their own address before they accept a form.
  if (from !== undefined) headers.push(['referer', from])
  if (method === 'POST') headers.push(['origin', url.origin])
  if (body !== undefined) headers.push(['content-type', 'application/x-www-form-urlencoded'])
  if (cookie !== undefined) headers.push(['cookie', cookie])
  const bytes = body === undefined ? {} : { body: new TextEncoder().encode(body) }
  return { url, method, headers, ...bytes }
}

type Redirect = { status: number; location: string | null }

/** Returns the redirect to follow: not a 307 or 308 after POST, which resends (RFC 9110 section 15.4). */
function ledOn({ url, method }: Request, { status, location }: Redirect): Request | undefined {
  if (location === null || !URL.canParse(location, url.href)) return undefined
  const to = new URL(location, url)
  const isAgain = method === 'POST' && (status === 307 || status === 308)
  to.hash = ''
  return to.origin === url.origin && !isAgain ? { url: to, method: 'GET' } : undefined
}

/** Returns the forms of a page; in a truncated page the last one may be incomplete and is left out. */
function formsIn(fetched: Fetched, url: URL): PageForm[] {
  if (fetched.kind !== 'answered') return []
  const { headers, body, truncated } = fetched
  const text = readAnswerText(fetched)?.text ?? new TextDecoder('latin1').decode(body)
  const forms = formsOf(text, url, headers)
  return truncated ? forms.slice(0, -1) : forms
}
