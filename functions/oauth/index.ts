import { Hono } from 'hono/tiny'
import { fail } from '../../shared/contract/errors.ts'
import { allowAnyOrigin, refuse } from '../../shared/http/answer.ts'
import { runToEnd } from '../../shared/http/later.ts'
import { type World, worldFrom } from '../../shared/world.ts'
import { answerFailure } from './answers.ts'
import { documents } from './documents.ts'
import { endpoints } from './endpoints.ts'
import type { OAuthEnv } from './frame.ts'

/** Makes the function. Only tests replace `worldOf`. */
export function oauthFunction(worldOf: typeof worldFrom = worldFrom) {
  const app = new Hono<OAuthEnv>()
  let world: World | undefined
  app.use(async (c, next) => {
    world ??= worldOf(c.env)
    c.set('world', world)
    c.set('requestId', world.newId())
    await next()
    allowAnyOrigin(c.res.headers)
  })
  // A browser sends a preflight when a client adds headers of its own, such as DPoP.
  app.options('*', () => new Response(null, { status: 204 }))
  for (const [path, read] of Object.entries(documents)) {
    app.get(path, (c) => c.json(read(c.get('world').config, c.req.path), 200, cached))
    app.all(path, (c) => wrongMethod(c.get('requestId'), 'GET'))
  }
  for (const [path, answer] of Object.entries(endpoints)) {
    app.post(path, answer)
    app.all(path, (c) => wrongMethod(c.get('requestId'), 'POST'))
  }
  app.notFound((c) => refuse(fail('not_found', { hint }), c.get('requestId')))
  app.onError((error, c) => answerFailure(c, error))
  return {
    fetch: runToEnd((request, bindings, execution) =>
      app.fetch(request, bindings ?? {}, execution),
    ),
  }
}

const hint =
  'Where everything is, {base_url}/.well-known/oauth-authorization-server/oauth tells: the issuer is ' +
  '{base_url}/oauth, and its metadata are where RFC 8414 puts those of an issuer with a path.'

// The addresses of endpoints change with a deployment at most.
const cached = { 'cache-control': 'public, max-age=3600' }

function wrongMethod(requestId: string, allow: string): Response {
  return refuse(fail('method_not_allowed', { details: { allow } }), requestId)
}

export default oauthFunction()
