/**
 * Input of a form that was refused because a proof is missing. A cookie keeps it while the owner proves
 * their identity; then the page fills it in for the same owner. It is never part of an address, so that a
 * link from somebody else cannot fill in a form.
 */
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { Owner, PageContext } from './visit.ts'

const name = 'aoa_typed'
const host = { path: '/', secure: true, prefix: 'host' } as const
/** Seconds that it is kept, and characters at most; cookies hold little more. */
const keptSeconds = 600
const lengthMax = 2_000

/** Marks the form to be kept if this request is refused for want of a proof. Not for secrets. */
export function markFormDraft(c: PageContext, form: URLSearchParams): void {
  const typed = new URLSearchParams(form)
  typed.set('form', c.req.path)
  typed.set('account', c.get('formAccount') ?? '')
  c.set('typed', typed)
}

/** Stores in the browser what the page marked. */
export function storeFormDraft(c: PageContext): void {
  const text = c.get('typed')?.toString() ?? ''
  if (text === '' || text.length > lengthMax) return
  setCookie(c, name, text, { ...host, httpOnly: true, sameSite: 'Lax', maxAge: keptSeconds })
}

/** Returns the input that was kept for the form of this page and account, once. */
export function takeFormDraft(c: PageContext, { account }: Owner): URLSearchParams | undefined {
  const typed = new URLSearchParams(getCookie(c, name, 'host'))
  if (typed.get('form') !== c.req.path) return undefined
  deleteFormDraft(c)
  return typed.get('account') === account.id ? typed : undefined
}

/** Deletes the kept input, as when the owner signs out. */
export function deleteFormDraft(c: PageContext): void {
  deleteCookie(c, name, host)
}
