/**
 * An app and the owner who connects it, against the functions served on loopback. The owner's click makes
 * the page's own SQL call; everything else is a request that an app sends.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import notFound from '../../functions/not-found/index.ts'
import { listen } from '../../scripts/local/process/listen.ts'
import type { OwnerSession } from '../../shared/auth/new-session.ts'
import { bindCredential } from '../../shared/db/database.ts'
import {
  type ReadRequest,
  readAuthorizationRequest,
} from '../../shared/oauth/authorization-request.ts'
import { type GrantChoice, grantAccess } from '../../shared/oauth/token.ts'
import type { Fetch, World } from '../../shared/world.ts'
import { atEnd } from './ending.ts'
import { functionsIn } from './functions.ts'
import { toolsIn } from './mcp.ts'
import { ownerOf } from './owner.ts'
import { randomBytes } from './seed.ts'
import type { Agent, Answer, TestWorld } from './world.ts'

export type Served = {
  /** Base URL of every function. */
  url: string
  world: World
  tests: TestWorld
}

export const redirectUri = 'https://app.example/back'
const json = z.record(z.string(), z.unknown())

/** Serves the functions at BASE_URL; `outside` is the network of the product. */
export async function serve(tests: TestWorld, outside?: Fetch): Promise<Served> {
  let fetch: (request: Request) => Response | Promise<Response> = () => new Response()
  const server = await listen((request) => fetch(request))
  atEnd(() => server.close())
  const config = { ...tests.world.config, BASE_URL: server.url }
  const world = { ...tests.world, config, ...(outside ? { fetch: outside } : {}) }
  const functions = functionsIn(world)
  const tools = toolsIn(world)
  fetch = (request) => {
    const { pathname } = new URL(request.url)
    if (/^\/mcp\/?$/.test(pathname)) return tools(request)
    const isDocument = /^\/\.well-known\/(oauth-|openid-configuration)/.test(pathname)
    const found = functions.get(isDocument ? 'oauth' : (pathname.split('/')[1] ?? ''))
    return (found ?? notFound).fetch(request)
  }
  return { url: server.url, world, tests }
}

/** Opens a session of an account's owner with a recent proof. */
export async function sessionOf(
  { tests, world }: Served,
  agent: Agent,
  provenMinutesAgo = 0,
): Promise<OwnerSession> {
  const { credential } = await ownerOf(tests, agent, provenMinutesAgo)
  const account = { id: agent.id, alias: agent.alias }
  const browser = { userAgent: 'Browser', client: 'direct' }
  return { world, db: bindCredential(world.db, credential), account, browser }
}

/** Sends a request as an app does and reads the answer. */
export async function ask({ url }: Served, path: string, init?: RequestInit): Promise<Answer> {
  const answer = await fetch(new URL(path, url), init)
  const text = await answer.text()
  const body = text === '' ? {} : json.parse(JSON.parse(text))
  return { status: answer.status, body, headers: answer.headers }
}

export function postForm(
  served: Served,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return ask(served, path, { method: 'POST', body: new URLSearchParams(fields), headers })
}

export function postJson(served: Served, path: string, body: unknown): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  return ask(served, path, { method: 'POST', body: JSON.stringify(body), headers })
}

/** Registers an app and returns its id. */
export async function register(served: Served, metadata: object = {}): Promise<string> {
  const { body } = await postJson(served, '/oauth/register', {
    client_name: 'An app',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    ...metadata,
  })
  return z.string().parse(body['client_id'])
}

export type Asking = { verifier: string; params: Record<string, string> }

/** Returns an app's authorization request, and the verifier that it keeps. */
export function asking(client: string, differs: Record<string, string> = {}): Asking {
  const verifier = randomBytes(32).toString('base64url')
  const params = {
    client_id: client,
    redirect_uri: redirectUri,
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'the state of the app',
    ...differs,
  }
  return { verifier, params }
}

export function read({ world }: Served, params: Record<string, string>): Promise<ReadRequest> {
  return readAuthorizationRequest(world, new URLSearchParams(params))
}

/** Approves as the owner and returns where the browser is sent. */
export async function consent(
  served: Served,
  agent: Agent,
  params: Record<string, string>,
  choice: Partial<GrantChoice> = {},
): Promise<URL> {
  const asked = await read(served, params)
  if (asked.kind !== 'asked') throw new Error(JSON.stringify(asked))
  const { scopes } = asked.request
  const session = await sessionOf(served, agent)
  return new URL(await grantAccess(session, asked.request, { scopes, days: 90, ...choice }))
}

/** Does everything up to the code and returns the form that redeems it. */
export async function codeFor(
  served: Served,
  agent: Agent,
  client: string,
  differs: Record<string, string> = {},
  choice: Partial<GrantChoice> = {},
): Promise<Record<string, string>> {
  const { verifier, params } = asking(client, differs)
  const back = await consent(served, agent, params, choice)
  return {
    grant_type: 'authorization_code',
    code: back.searchParams.get('code') ?? '',
    client_id: client,
    redirect_uri: params['redirect_uri'] ?? '',
    code_verifier: verifier,
  }
}

export function redeem(served: Served, form: Record<string, string>): Promise<Answer> {
  return postForm(served, '/oauth/token', form)
}

const tokensOf = z.object({ access_token: z.string(), refresh_token: z.string() })

/** Connects an app to an account and returns its tokens. */
export async function connect(
  served: Served,
  agent: Agent,
  scope = 'read',
): Promise<{ client: string; access: string; refresh: string }> {
  const client = await register(served)
  const { body } = await redeem(served, await codeFor(served, agent, client, { scope }))
  const tokens = tokensOf.parse(body)
  return { client, access: tokens.access_token, refresh: tokens.refresh_token }
}

export function refreshWith(
  served: Served,
  client: string,
  token: unknown,
  more: Record<string, string> = {},
): Promise<Answer> {
  const form = { grant_type: 'refresh_token', client_id: client, refresh_token: String(token) }
  return postForm(served, '/oauth/token', { ...form, ...more })
}

/** Returns the status of a call with a token. */
export async function statusWith(served: Served, token: unknown, path = '/get-identity') {
  const headers = { authorization: `Bearer ${String(token)}` }
  return (await ask(served, path, { headers })).status
}
