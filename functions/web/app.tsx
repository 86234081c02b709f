import type { MiddlewareHandler } from 'hono'
import { Hono } from 'hono/tiny'
import { decodeBytes } from '../../shared/base64.ts'
import { fail, Rejection } from '../../shared/contract/errors.ts'
import { wholeRequest } from '../../shared/http/input.ts'
import { runToEnd, waitUntilOf } from '../../shared/http/later.ts'
import { wakeMailer } from '../../shared/mail/outbox.ts'
import { type World, worldFrom } from '../../shared/world.ts'
import { assets } from './assets.ts'
import { pageHeaders } from './frame.ts'
import { answerError, answerNotFound } from './refusals.tsx'
import { keepFormToken, requireOwnForm } from './session.ts'
import { keepBrowserToken } from './session-cookie.ts'
import { type Bindings, type Routes, type WebEnv, webAppPath } from './visit.ts'

/** Bytes of a form at most; the largest carries the answer of a passkey. */
const formBytesMax = 16 * 1024

const smallForm: MiddlewareHandler<WebEnv> = async (c, next) => {
  c.req.raw = await wholeRequest(c.req.raw, formBytesMax)
  await next()
}

/**
 * Puts all cookies on one line. A client may send several (RFC 9113 section 8.2.3), which workerd joins with a
 * comma; no cookie of ours has one.
 */
const cookiesOnOneLine: MiddlewareHandler<WebEnv> = async (c, next) => {
  const sent = c.req.header('cookie')
  if (sent?.includes(', ')) {
    const headers = new Headers(c.req.raw.headers)
    headers.set('cookie', sent.replaceAll(', ', '; '))
    c.req.raw = new Request(c.req.raw, { headers })
  }
  await next()
}

/** Wakes the mailer after a form, which may have put a mail into the outbox. */
const wakeMailerAfterForm: MiddlewareHandler<WebEnv> = async (c, next) => {
  await next()
  wakeMailer(c.get('world'), waitUntilOf(c))
}

/**
 * Makes the app as one edge function: first the rules that hold for every page, then the pages. Only
 * tests replace `worldOf`.
 */
export function webFunction(
  pages: readonly Routes[],
  worldOf: (bindings: Bindings) => World = worldFrom,
) {
  const app = new Hono<WebEnv>({ strict: false })
  const below = app.basePath(webAppPath)
  let world: World | undefined
  app.use(async (c, next) => {
    world ??= worldOf(c.env)
    c.set('world', world)
    c.set('requestId', world.newId())
    const { host } = new URL(world.config.WEB_URL)
    const asked = new URL(c.req.url)
    // A session, a passkey and the origin of a form belong to one host, so other hosts are redirected.
    if (asked.host !== host) return c.redirect(`${world.config.WEB_URL}${pathBelow(asked)}`, 307)
    await next()
    return undefined
  })
  app.use(cookiesOnOneLine)
  app.use(pageHeaders)
  below.get('/assets/:name', (c) => answerAsset(c.req.param('name')))
  app.get('*', keepFormToken, keepBrowserToken)
  app.post('*', smallForm, requireOwnForm, wakeMailerAfterForm)
  for (const addRoutes of pages) addRoutes(below)
  app.notFound(answerNotFound)
  app.onError(answerError)
  return {
    app,
    fetch: runToEnd((request, bindings, execution) =>
      app.fetch(request, bindings ?? {}, execution),
    ),
  }
}

function pathBelow({ pathname, search }: URL): string {
  return pathname.slice(webAppPath.length) + search
}

/** Serves an asset. Its name contains the hash of its content, so a browser may cache it for a year. */
function answerAsset(name: string): Response {
  const asset = Object.values(assets).find((one) => one.name === name)
  if (!asset) throw new Rejection(fail('not_found'))
  return new Response('text' in asset ? asset.text : (decodeBytes(asset.base64) ?? null), {
    headers: {
      'content-type': asset.type,
      'cache-control': 'public, max-age=31536000, immutable',
    },
  })
}
