/**
 * Only our own pages change something. A form is taken when the browser names our origin and the form
 * carries the token that its cookie holds: a page elsewhere can know neither.
 */
import type { MiddlewareHandler } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { fail, Rejection } from '../../shared/contract/errors.ts'
import { toHex } from '../../shared/digest.ts'
import type { Frame, Visit } from './visit.ts'

const name = 'aoa_form'
const form = /^[0-9a-f]{64}$/

/** Gives a browser its token when it has none. */
export const keepFormToken: MiddlewareHandler<Frame> = async (c, next) => {
  const known = tokenOf(c)
  const token = known ?? toHex(c.get('world').randomBytes(32).buffer)
  c.set('formToken', token)
  if (known === undefined) {
    const host = { path: '/', secure: true, prefix: 'host' } as const
    setCookie(c, name, token, { ...host, httpOnly: true, sameSite: 'Lax' })
  }
  await next()
}

/** Refuses a form that is not of our own pages, before anything is read from it. */
export const requireOwnForm: MiddlewareHandler<Frame> = async (c, next) => {
  const token = tokenOf(c)
  if (!isOwnOrigin(c) || token === undefined) throw new Rejection(fail('foreign_form'))
  const [type] = (c.req.header('content-type') ?? '').split(';')
  if (type?.trim().toLowerCase() !== 'application/x-www-form-urlencoded') {
    throw new Rejection(fail('foreign_form'))
  }
  if (new URLSearchParams(await c.req.text()).get('form') !== token) {
    throw new Rejection(fail('foreign_form'))
  }
  c.set('formToken', token)
  await next()
}

function tokenOf(c: Visit): string | undefined {
  const token = getCookie(c, name, 'host')
  return token !== undefined && form.test(token) ? token : undefined
}

/** Browsers name the origin of each POST; Sec-Fetch-Site speaks where one does not (Fetch 3.2, 5). */
function isOwnOrigin(c: Visit): boolean {
  const origin = c.req.header('origin')
  if (origin !== undefined) return origin === new URL(c.get('world').config.WEB_URL).origin
  return c.req.header('sec-fetch-site') === 'same-origin'
}
