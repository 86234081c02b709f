import type { ExecutionContext, MiddlewareHandler } from 'hono'
import { Hono } from 'hono/tiny'
import { fail, Rejection } from '../../shared/contract/errors.ts'
import { laterOf } from '../../shared/http/later.ts'
import { wholeRequest } from '../../shared/http/read-at-most.ts'
import { wakeMailer } from '../../shared/mail/wake.ts'
import type { World } from '../../shared/world.ts'
import { worldFrom } from '../../shared/world.ts'
import { assets } from './assets.ts'
import { keepFormToken, requireOwnForm } from './form-token.ts'
import { pageHeaders } from './headers.ts'
import { answerError, answerNotFound } from './refusals.tsx'
import type { Bindings, Frame, Routes } from './visit.ts'
import { pagesBelow } from './visit.ts'

/** Bytes of a form; the largest carries a passkey's answer. */
const formBytesMax = 16 * 1024

const smallForm: MiddlewareHandler<Frame> = async (c, next) => {
  c.req.raw = await wholeRequest(c.req.raw, formBytesMax)
  await next()
}

/** A form may have put a mail into the outbox. */
const mailSoon: MiddlewareHandler<Frame> = async (c, next) => {
  await next()
  wakeMailer(c.get('world'), laterOf(c))
}

/**
 * The app as one edge function: what holds for every page, then the pages. `worldOf` is replaced only
 * where a test holds the world.
 */
export function webFunction(
  pages: readonly Routes[],
  worldOf: (bindings: Bindings) => World = worldFrom,
) {
  const app = new Hono<Frame>({ strict: false })
  const below = app.basePath(pagesBelow)
  let world: World | undefined
  app.use(async (c, next) => {
    world ??= worldOf(c.env)
    c.set('world', world)
    c.set('requestId', world.newId())
    const { host } = new URL(world.config.WEB_URL)
    const asked = new URL(c.req.url)
    // A session, a passkey and the origin of a form belong to one host.
    if (asked.host !== host) return c.redirect(`${world.config.WEB_URL}${pathBelow(asked)}`, 307)
    await next()
    return undefined
  })
  app.use(pageHeaders)
  below.get('/assets/:name', (c) => answerAsset(c.req.param('name')))
  app.get('*', keepFormToken)
  app.post('*', smallForm, requireOwnForm, mailSoon)
  for (const addRoutes of pages) addRoutes(below)
  app.notFound(answerNotFound)
  app.onError(answerError)
  return {
    app,
    fetch: (request: Request, bindings?: Bindings, execution?: ExecutionContext) =>
      app.fetch(request, bindings ?? {}, execution),
  }
}

function pathBelow({ pathname, search }: URL): string {
  return pathname.slice(pagesBelow.length) + search
}

/** The name of an asset has the hash of its content in it, so a browser may keep it for ever. */
function answerAsset(name: string): Response {
  const asset = Object.values(assets).find((one) => one.name === name)
  if (!asset) throw new Rejection(fail('not_found'))
  return new Response(asset.text, {
    headers: {
      'content-type': asset.type,
      'cache-control': 'public, max-age=31536000, immutable',
    },
  })
}
