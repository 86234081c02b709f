/**
 * The page of a visit that the agent is shown. The answer to a form that carried a secret is not shown. If it
 * asks for nothing more, the page at its address is opened in the session instead.
 */
import { isRefusal, type Refusal } from '../../contract/errors.ts'
import { isRemovable, redactorFor } from '../scrub.ts'
import { readAnswerText, siteAnswerOf, withoutQuery } from '../use-answer.ts'
import { codeFieldsIn, passwordsIn } from './forms.ts'
import type { StepAnswer } from './port.ts'
import type { Browsed, Request, Visit } from './visit.ts'

/** Functions that fetch a page for a visit and store its session; imports in a row are limited. */
type Ending = {
  fetchPage: (visit: Visit, request: Request) => Promise<Browsed>
  store: (visit: Visit) => Promise<string | undefined>
}

/** Returns the last page as the agent is shown it, and stores the session to continue with. */
export async function endVisit(
  visit: Visit,
  { fetchPage, store }: Ending,
): Promise<StepAnswer | Refusal> {
  if (visit.isCarrying) await openInstead(visit, fetchPage)
  const { session, browsed, filled } = visit
  if (!browsed) throw new Error('a visit ended before anything was asked')
  const isGuessed = (secret: string) => redactorFor([secret])(visit.said).removed > 0
  const secrets = [...visit.sent, ...visit.known.filter((secret) => !isGuessed(secret))]
  const withheld = whyWithheld(visit, browsed)
  const answer = siteAnswerOf(browsed.fetched, { secrets, withheld })
  if (isRefusal(answer)) return answer
  const expires_at = (await store(visit)) ?? null
  const { response, ...beside } = answer
  const { cookies: _, location, ...page } = response
  // A site that redirects with its input writes it into the query.
  const shown = visit.sent.length === 0 ? (text: string) => text : withoutQuery
  const url = redactorFor(secrets)(shown(browsed.url.href)).text
  const led = location === undefined ? {} : { location: shown(location) }
  const asked = withheld === 'password_sent' ? { asks: asksOf(session.state.forms) } : {}
  const step = { session: session.id, expires_at, filled, ...asked }
  return { ...step, response: { ...page, url, ...led }, ...beside }
}

function whyWithheld(
  { isCarrying, sent }: Visit,
  { fetched }: Browsed,
): StepAnswer['withheld'] | undefined {
  if (isCarrying) return 'password_sent'
  if (fetched.kind !== 'answered') return undefined
  const short = sent.filter((secret) => !isRemovable(secret))
  const { text = '' } = readAnswerText(fetched) ?? {}
  return redactorFor(short)(text).removed > 0 ? 'short_secret' : undefined
}

/** Opens the page at the address of an answer, unless that asks for more or there is no such page. */
async function openInstead(visit: Visit, fetchPage: Ending['fetchPage']): Promise<void> {
  const { browsed, session, filled } = visit
  // A sign-in link fills in nothing, and opening it again would use it twice.
  if (filled.length === 0 || !browsed || !isFine(browsed) || asksOf(session.state.forms).length > 0)
    return
  const opened = await fetchPage(visit, { url: browsed.url, method: 'GET' })
  if (isFine(opened)) return
  const { cookies } = visit.session.state
  visit.session = { ...session, state: { ...session.state, cookies } }
  visit.browsed = browsed
  visit.isCarrying = true
}

function isFine({ fetched }: Browsed): boolean {
  return fetched.kind === 'answered' && fetched.status < 300
}

function asksOf(forms: Browsed['forms']): ('password' | 'code')[] {
  return [
    ...(forms.some((form) => passwordsIn(form).length > 0) ? (['password'] as const) : []),
    ...(forms.some(codeFieldsIn) ? (['code'] as const) : []),
  ]
}
