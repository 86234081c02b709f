/**
 * Checks for requests from a person's browser on one of our pages. They use what browsers send and other
 * sites cannot forge: the origin and the token of a cookie. A program can imitate all of it. The checks
 * tell agents that the page is for a person, and stop other sites from using a person's browser.
 */
import { fail, type Refusal } from '../contract/errors.ts'

/** Cookie whose value every form repeats. `__Host-`: no other host can set it. */
const formCookie = /(?:^|;\s*)__Host-aoa_form=([0-9a-f]{64})(?:;|$)/

/** Returns the form token of the browser; undefined if it has none. */
export function formTokenOf(headers: Headers): string | undefined {
  return formCookie.exec(headers.get('cookie') ?? '')?.[1]
}

/** True if a page of ours sent the form; `form` is the token that it repeats. */
export function isOwnForm(headers: Headers, webUrl: string, form: string | null): boolean {
  const token = formTokenOf(headers)
  return isOwnPage(headers, new URL(webUrl).origin) && token !== undefined && token === form
}

/** Browsers send the origin and the site relation with each POST; those that are present must be ours. */
function isOwnPage(headers: Headers, own: string): boolean {
  const origin = headers.get('origin')
  const site = headers.get('sec-fetch-site')
  if (origin === null && site === null) return false
  return (origin ?? own) === own && (site ?? 'same-origin') === 'same-origin'
}

/** Returns why a request is not a form of ours, in words for an agent that tries a person's page. */
export function browserProblem(
  headers: Headers,
  webUrl: string,
  form: string,
): Refusal<'browser_only' | 'foreign_form'> | undefined {
  const isUnnamed = !headers.has('origin') && !headers.has('sec-fetch-site')
  if (headers.has('authorization') || isUnnamed) return fail('browser_only')
  return isOwnForm(headers, webUrl, form) ? undefined : fail('foreign_form')
}
