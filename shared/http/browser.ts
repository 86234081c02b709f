/**
 * Whether a request comes from a person's browser on a page of ours, by what browsers send and pages
 * elsewhere cannot: their origin, and the token of a cookie. A program can pretend all of it; this
 * tells agents their place, and keeps other sites from using the browser of a person.
 */
import type { Refusal } from '../contract/errors.ts'
import { fail } from '../contract/errors.ts'

/** The cookie whose value every form of ours repeats. `__Host-`: no other host can set it. */
const formCookie = /(?:^|;\s*)__Host-aoa_form=([0-9a-f]{64})(?:;|$)/

/** The token that a browser was given for its forms; undefined where it has none. */
export function formTokenOf(headers: Headers): string | undefined {
  return formCookie.exec(headers.get('cookie') ?? '')?.[1]
}

/** Whether a form was sent by a page of ours: `form` is the token that it repeats. */
export function isOwnForm(headers: Headers, webUrl: string, form: string | null): boolean {
  const token = formTokenOf(headers)
  return isOwnPage(headers, new URL(webUrl).origin) && token !== undefined && token === form
}

/** Browsers name the origin of each POST and how near the page is; what is named has to be ours. */
function isOwnPage(headers: Headers, own: string): boolean {
  const origin = headers.get('origin')
  const site = headers.get('sec-fetch-site')
  if (origin === null && site === null) return false
  return (origin ?? own) === own && (site ?? 'same-origin') === 'same-origin'
}

/** Why a request is not a form of ours, told apart for an agent that tries what a person does. */
export function browserProblem(
  headers: Headers,
  webUrl: string,
  form: string,
): Refusal<'browser_only' | 'foreign_form'> | undefined {
  const isUnnamed = !headers.has('origin') && !headers.has('sec-fetch-site')
  if (headers.has('authorization') || isUnnamed) return fail('browser_only')
  return isOwnForm(headers, webUrl, form) ? undefined : fail('foreign_form')
}
