/** A visit of the service to a site for an entry: the values that it may fill in, and the pages served. */
import * as z from 'zod'
import { fail, type Refusal } from '../../contract/errors.ts'
import { bindCredential, type CallerDatabase } from '../../db/database.ts'
import { checkUrl, type Fetched, safeFetch } from '../../egress/safe-fetch.ts'
import type { OutboxMail } from '../../mail/outbox.ts'
import type { World } from '../../world.ts'
import { catchRefusal } from '../answering.ts'
import {
  type ApprovedDestination,
  type Destination,
  isTooLong,
  requireApprovedDestination,
  sortPositions,
  type ValuePosition,
} from '../destinations/destination.ts'
import type { UsedEntry } from '../inject.ts'
import type { VaultContext } from '../room.ts'
import { redactorFor } from '../scrub.ts'
import { readAnswerText } from '../use-answer.ts'
import { type Cookie, cookieHeader, keptCookies } from './cookies.ts'
import { formsOf, loginFormsIn, nameFormIn, type PageForm } from './forms.ts'
import type { LookOrder, LookPort, StepAnswer } from './port.ts'
import type { Home, Session, SessionState } from './session.ts'
import { type Filled, loginIn, type Submission, submissionOf } from './submission.ts'

/** An opened entry and the state of a visit. */
export type Visit = {
  room: VaultContext
  db: CallerDatabase
  home: Home
  used: UsedEntry
  approved: readonly ApprovedDestination[]
  isFirstUse: boolean
  /** True if the calling key stored or drew the password itself. */
  isOwn: boolean
  /** Handles of the mail codes that may be filled in. */
  handles: string[]
  claim: string | null
  /** True once a use was recorded under the claim. */
  isBegun: boolean
  /** Deadline for the site, in milliseconds of the epoch. */
  endsAt: number
  session: Session
  /** Secrets that the site may know, and values that were sent during the visit. */
  known: readonly string[]
  /** Words of the agent in this step: what they contain is shown as it is, so that no mark confirms a guess. */
  said: string
  sent: string[]
  /** True if the last request that no redirect led to carried a secret. */
  isCarrying: boolean
  browsed?: Browsed
  filled: StepAnswer['filled']
}

/** Input of a step: the caller, the entry, handles of mail codes, and the agent's own words. */
export type Opening = Pick<Visit, 'claim' | 'handles' | 'said'> & {
  credential: string
  entry: string
}

/** Returns a path and fields as a site may repeat them, each on a line. */
export function wordsOf(path = '', fields: Readonly<Record<string, string>> = {}): string {
  return [path, ...Object.entries(fields).flat()].join('\n')
}

/** Returns the address of a page at the entry's own site. */
export function pageAt({ home, room }: Visit, path: string): URL | Refusal<'site_refused'> {
  const url = new URL(path, home.site)
  const checked = checkUrl(url.href, room.world.config)
  if (url.origin !== home.site || 'refused' in checked) return fail('site_refused')
  url.hash = ''
  return url
}

/** Values that a form of a page would carry. */
export type Candidate = { page: string; form: PageForm; filled: readonly Filled[] }

/** Returns the first candidate that the owner approved, or a refusal with the URL where that is done. */
export async function requireApprovedForm(
  { room, db, home, approved, known }: Visit,
  candidates: readonly Candidate[],
): Promise<{ id: string; at: number } | Refusal> {
  const destinations = candidates.map(destinationOf)
  // A site that writes a secret into its own forms has no form that can be shown.
  const isTelling = redactorFor(known)(JSON.stringify(destinations)).removed > 0
  if (isTelling || destinations.some(isTooLong)) {
    const message = 'The field or the address of the form is not fit for its owner to read.'
    return fail('form_refused', { message })
  }
  const approvals = { entry: home.entry, origin: home.site, approved }
  return requireApprovedDestination(room.world, db, approvals, destinations)
}

/** Returns the destination that the owner approves for a form. */
function destinationOf({ page, form, filled }: Candidate): Destination {
  const standing = filled.map(({ secret, control: { name } }): ValuePosition => {
    const named = secret.startsWith('mail.') ? 'mail' : secret
    return { secret: named, where: 'form_field', name, prefix: '' }
  })
  const path = lastingPath(new URL(form.action))
  return { kind: 'form', page, method: 'POST', path, standing: sortPositions(standing) }
}

/** Returns the path and query of a form without what differs each time, such as the codes of Keycloak. */
function lastingPath({ pathname, searchParams }: URL): string {
  const parts = [...searchParams].map(([name, value]) => {
    return `${encodeURIComponent(name)}=${/^[a-z_./-]{0,40}$/i.test(value) ? value : '*'}`
  })
  const path = pathname.replaceAll(/;[^/]*/g, '')
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`
}

/** True if the site wrote a secret into a field of the form that the agent leaves as it is. */
export function isRefilled(
  { known }: Visit,
  { controls }: PageForm,
  given: Readonly<Record<string, string>>,
): boolean {
  const left = controls.filter(({ name }) => given[name] === undefined)
  return redactorFor(known)(left.map(({ value }) => value).join('\n')).removed > 0
}

/** Function that makes the mail about the first use of a secret at a site. */
export type Notice = (site: string) => Promise<OutboxMail>

/** Records that a form, with these values of the entry, is about to be sent. */
export async function recordUse(
  visit: Visit,
  { url }: Submission,
  notice: Notice,
  { filled, destinations }: { filled: readonly Filled[]; destinations: string[] },
): Promise<void> {
  const { room, db, home, handles, claim, known } = visit
  const { id, step } = visit.session
  const secrets = filled.filter(({ secret }) => secret !== 'username')
  const isNotified = secrets.length > 0 && visit.isFirstUse
  await db.run('vault_begin_use', {
    entry: home.entry,
    handles,
    destinations,
    claim,
    // Stored without its query, in which pages pass on what they received.
    request: `POST ${redactorFor(known)(url.pathname).text}`.slice(0, 2048),
    mail: isNotified ? await notice(home.site) : null,
    type: secrets.length > 0 ? 'secret_used' : 'session_used',
    session: step > 0 ? id : null,
    goes_on: visit.isBegun,
  })
  visit.isBegun = true
  if (isNotified) room.mailSoon()
  // A code in boxes is one secret, not one for each digit.
  visit.sent.push(...secrets.map(({ secret, value }) => visit.used.values.get(secret) ?? value))
}

/** Changes the state of the session. */
export function noteState(visit: Visit, noted: Partial<SessionState>): void {
  visit.session = { ...visit.session, state: { ...visit.session.state, ...noted } }
}

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
    const fetched = await safeFetch(world, visitRequest(world, next, jar), limits)
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

function visitRequest(world: World, { url, method, body, from }: Request, jar: readonly Cookie[]) {
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

const lookedRow = z.object({ site: z.string(), username: z.string() })

/** Returns the operation of the vault that looks at pages. */
export function openLook(context: VaultContext): LookPort {
  return { lookAt: (order) => catchRefusal(() => lookAt(context, order)) }
}

async function lookAt(
  { world }: VaultContext,
  { credential, entry, path }: LookOrder,
): Promise<{ found: number } | Refusal> {
  const db = bindCredential(world.db, credential)
  const looked = await db.one('vault_look', { entry }, lookedRow)
  if (!looked) throw new Error('vault_look answered no row')
  const { site, username } = looked
  const url = URL.canParse(path, site) ? new URL(path, site) : undefined
  const checked = url && checkUrl(url.href, world.config)
  if (url?.origin !== site || !checked || 'refused' in checked) return fail('site_refused')
  url.hash = ''
  const used = { origin: site, username, values: noPassword, links: new Map(), hidden: [] }
  const found = loginFormsIn(await formsAt(world, url, used), site)
  const page = url.pathname + url.search
  const destinations = found.map((one) =>
    destinationOf({ page, form: one.form, filled: loginIn(used, one) }),
  )
  const shown = destinations.filter((destination) => !isTooLong(destination))
  for (const asked of shown) await db.run('vault_ask_found_destination', { entry, asked })
  return { found: shown.length }
}

const noPassword = new Map([['password', '']])

/** Returns the forms of the page or, if it asks for the user name alone, of the page behind it. */
async function formsAt(
  world: VaultContext['world'],
  url: URL,
  { origin, username: value }: { origin: string; username: string },
) {
  const endsAt = world.now().getTime() + visitMilliseconds
  const first = await browse(world, { url, method: 'GET' }, { cookies: [], endsAt, secrets: [] })
  const named =
    loginFormsIn(first.forms, origin).length > 0 ? undefined : nameFormIn(first.forms, origin)
  if (!named || value === '') return first.forms
  const own = [{ control: named.username, value }]
  const submission = submissionOf(origin, named.form, { fields: {}, own, isSignIn: true })
  if ('refused' in submission) return first.forms
  const { cookies } = first
  const request = { ...submission, from: first.url.href }
  return (await browse(world, request, { cookies, endsAt, secrets: [] })).forms
}
