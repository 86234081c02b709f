/**
 * CSRF protection: only our own pages change something. A form is accepted if the browser names our origin
 * and the form carries the token of its cookie; another site knows neither. A form also names the account
 * that its page was shown for (`requireOwner` checks it), because several people may sign in to one browser.
 */
import type { MiddlewareHandler } from 'hono'
import { setCookie } from 'hono/cookie'
import { fail, Rejection } from '../../shared/contract/errors.ts'
import { toHex } from '../../shared/digest.ts'
import { formTokenOf, isOwnForm } from '../../shared/http/browser.ts'
import { formFieldsIn } from '../../shared/http/input.ts'
import type { WebEnv } from './visit.ts'

/** Gives a browser a form token if it has none. */
export const keepFormToken: MiddlewareHandler<WebEnv> = async (c, next) => {
  const known = formTokenOf(c.req.raw.headers)
  const token = known ?? toHex(c.get('world').randomBytes(32).buffer)
  c.set('formToken', token)
  if (known === undefined) {
    const host = { path: '/', secure: true, prefix: 'host' } as const
    setCookie(c, 'aoa_form', token, { ...host, httpOnly: true, sameSite: 'Lax' })
  }
  await next()
}

/** Refuses a form that is not from our own pages, before anything else is done with it. */
export const requireOwnForm: MiddlewareHandler<WebEnv> = async (c, next) => {
  const { headers } = c.req.raw
  const [type] = (headers.get('content-type') ?? '').split(';')
  const isForm = type?.trim().toLowerCase() === 'application/x-www-form-urlencoded'
  const form = isForm ? formFieldsIn(await c.req.text()).get('form') : null
  const [token = '', account] = form?.split('.') ?? []
  if (!isOwnForm(headers, c.get('world').config.WEB_URL, token)) {
    throw new Rejection(fail('foreign_form'))
  }
  c.set('formToken', token)
  if (account !== undefined) c.set('formAccount', account)
  await next()
}
