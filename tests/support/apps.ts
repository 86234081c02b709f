/** OAuth apps as the owner meets them: registered, asking for access by a link, or already connected. */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { oauthFunction } from '../../functions/oauth/index.ts'
import { digestOfToken, newToken } from '../../shared/auth/access-token.ts'
import { unbound } from '../../shared/db/database.ts'
import { metadataFrom, sentMetadata } from '../../shared/oauth/client-metadata.ts'
import { randomBytes } from './seed.ts'
import type { Agent, TestWorld } from './world.ts'

export const redirectUri = 'https://app.example/back'

/** Registers an app and returns its id. */
export async function registerApp(
  { world }: Pick<TestWorld, 'world'>,
  { name = 'Research desk', uri = redirectUri } = {},
): Promise<string> {
  const id = newToken(world, 'client')
  const metadata = metadataOf(name, uri)
  const registration = { client_id: id, metadata, client: randomBytes(8).toString('hex') }
  await unbound(world.db).run('oauth_register_client', registration)
  return id
}

/** Stores the client metadata document of an app, as if it had just been fetched from its address. */
export async function describeApp({ world }: Pick<TestWorld, 'world'>, id: string): Promise<void> {
  const metadata = metadataOf('Research desk', redirectUri)
  const document = { client_id: id, metadata, seconds: 60 }
  await unbound(world.db).run('oauth_keep_document', document)
}

function metadataOf(client_name: string, uri: string) {
  const told = { client_name, redirect_uris: [uri], grant_types: ['refresh_token'] }
  return metadataFrom(sentMetadata.parse(told))
}

export const verifier = 'v'.repeat(43)

/** Returns the address that a page sends the browser to by itself. */
export function goesTo({ headers }: Pick<Response, 'headers'>): URL {
  return new URL((headers.get('refresh') ?? '').replace(/^0;url=/, ''))
}

/** Redeems the code in the address that the app's user was sent to. Returns the access token. */
export async function redeemCode(
  { world }: Pick<TestWorld, 'world'>,
  client_id: string,
  back: URL,
  redirect_uri = redirectUri,
): Promise<string> {
  const code = back.searchParams.get('code') ?? ''
  const proof = { grant_type: 'authorization_code', code, code_verifier: verifier }
  const body = new URLSearchParams({ client_id, redirect_uri, ...proof })
  const request = new Request('http://aoa.example/oauth/token', { method: 'POST', body })
  const answer = await oauthFunction(() => world).fetch(request)
  return z.object({ access_token: z.string() }).parse(await answer.json()).access_token
}

/** Returns what the page of an app's request carries to say what it showed. */
export function shownIn(html: string): string {
  const [, shown = ''] = /name="shown" value="([0-9a-f]{64})"/.exec(html) ?? []
  return shown
}

/** Returns the authorization path of an app. A value of undefined leaves its parameter out. */
export function askingPath(id: string, differs: Record<string, string | undefined> = {}): string {
  const params = {
    response_type: 'code',
    client_id: id,
    redirect_uri: redirectUri,
    scope: 'read',
    state: 'a state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...differs,
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params))
    if (value !== undefined) query.set(name, value)
  return `/web/authorize?${query.toString()}`
}

/** Connects an app with an access token that is in use. */
export async function connectApp(
  { world, db }: Pick<TestWorld, 'world' | 'db'>,
  { id }: Pick<Agent, 'id'>,
  { name = 'Research desk', scope = 'read', host = 'app.example', each = 200, day = 200 } = {},
): Promise<{ app: string; token: string }> {
  const token = newToken(world, 'access')
  const digest = await digestOfToken(world, token)
  const caps = ['pay', 'full'].includes(scope) ? [each * 1e6, day * 1e6] : [null, null]
  const [row] = await db.sql<{ app: string }[]>`
    with opened as (
      insert into private.credentials (account, kind, label, shown, scopes, expires_at,
        max_per_payment_usd_micros, max_per_day_usd_micros)
      values (${id}, 'oauth', ${name}, ${host}, ${[scope]},
        private.clock() + interval '90 days', ${caps[0] ?? null}, ${caps[1] ?? null})
      returning id, scopes
    ), held as (
      insert into private.oauth_grants (credential, client_id, redirect_host)
      select id, ${randomBytes(8).toString('hex')}, ${host} from opened
    ), spoken as (
      insert into private.access_tokens (digest, granted, scopes, expires_at)
      select ${digest}, id, scopes, private.clock() + interval '90 days' from opened
    ) select id as app from opened`
  if (!row) throw new Error('no app was connected')
  return { app: row.app, token }
}
