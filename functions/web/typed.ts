/**
 * What was typed into a form that was refused for want of a proof. The browser keeps it while its
 * owner proves itself, and the page shows it again for the same owner to send. It is no part of an
 * address: a link of somebody else can fill in nothing.
 */
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { Owner, Visit } from './visit.ts'

const name = 'aoa_typed'
const host = { path: '/', secure: true, prefix: 'host' } as const
/** Seconds for which it is kept, and the most characters of it; a browser takes little more. */
const keptSeconds = 600
const lengthMax = 2_000

/** Has the form kept if this request is refused for want of a proof. Not for a secret. */
export function keepIfUnproven(c: Visit, form: URLSearchParams): void {
  const typed = new URLSearchParams(form)
  typed.set('form', c.req.path)
  typed.set('account', c.get('formAccount') ?? '')
  c.set('typed', typed)
}

/** Gives the browser what the page wants kept. */
export function sendTyped(c: Visit): void {
  const text = c.get('typed')?.toString() ?? ''
  if (text === '' || text.length > lengthMax) return
  setCookie(c, name, text, { ...host, httpOnly: true, sameSite: 'Lax', maxAge: keptSeconds })
}

/** What was typed into the form of this page for this account, once. */
export function takeTyped(c: Visit, { account }: Owner): URLSearchParams | undefined {
  const typed = new URLSearchParams(getCookie(c, name, 'host'))
  if (typed.get('form') !== c.req.path) return undefined
  forgetTyped(c)
  return typed.get('account') === account.id ? typed : undefined
}

/** Takes it from a browser whose owner signs out. */
export function forgetTyped(c: Visit): void {
  deleteCookie(c, name, host)
}
