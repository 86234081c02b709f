/**
 * Whether a request comes from a person's browser on a page of ours, by what browsers send and pages
 * elsewhere cannot: their origin, and the token of a cookie. A program can pretend all of it; this
 * tells agents their place, and keeps other sites from using the browser of a person.
 */
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'

/** The cookie whose value every form of ours repeats. `__Host-`: no other host can set it. */
const formCookie = /(?:^|;\s*)__Host-aoa_form=([0-9a-f]{64})(?:;|$)/

/** Why a request is not such a one; `form` is the token that it repeats. */
export function browserProblem(
  headers: Headers,
  webUrl: string,
  form: string,
): Refusal<'browser_only' | 'foreign_form'> | undefined {
  const origin = headers.get('origin')
  // Where a browser names no origin, it says at least how near the page is (Fetch Metadata).
  const site = headers.get('sec-fetch-site')
  const isAgent = headers.has('authorization') || (origin === null && site === null)
  if (isAgent) return fail('browser_only')
  const isElsewhere =
    (origin !== null && origin !== new URL(webUrl).origin) ||
    (site !== null && site !== 'same-origin')
  const [, token] = formCookie.exec(headers.get('cookie') ?? '') ?? []
  return isElsewhere || token === undefined || token !== form ? fail('foreign_form') : undefined
}
