/**
 * The token endpoint (OAuth 2.1 section 3.2): exchanges a code or refresh token for tokens. Each request is
 * one database call that uses up the old one and issues the new ones, or does neither. A second use ends
 * the grant and tells the owner; a client that lost the answer may repeat a refresh token for 30 seconds.
 */
import * as z from 'zod'
import {
  digestOfToken,
  isTokenOfKind,
  newToken,
  nextRefreshToken,
  type Proof,
} from '../auth/access-token.ts'
import { type OwnerSession, sealSessionNotice } from '../auth/new-session.ts'
import { encodeForUrl } from '../base64.ts'
import { type CallerDatabase, unbound } from '../db/database.ts'
import { sha256 } from '../digest.ts'
import { appConnected, appTokenReused } from '../mail/access-messages.ts'
import { sealForOutbox } from '../mail/outbox.ts'
import type { World } from '../world.ts'
import { type OAuthError, oauthError } from './answer.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import { deviceGrant, type GrantScope, isResource, scopesIn } from './issuer.ts'
import { sendBack } from './send-back.ts'

/** Token response of RFC 6749 section 5.1. */
export type Tokens = {
  access_token: string
  token_type: 'Bearer' | 'DPoP'
  expires_in: number
  refresh_token?: string
  scope: string
}

/** The form that was sent, and the DPoP proof if one came with it. */
export type TokenRequest = { form: ReadonlyMap<string, string>; proof?: Proof }

const outcome = z.enum([
  'granted',
  'rotated',
  'repeated',
  'reused',
  'invalid_client',
  'invalid_dpop_proof',
  'invalid_grant',
  'invalid_scope',
  'authorization_pending',
  'slow_down',
  'access_denied',
  'expired_token',
])
const row = z.object({
  outcome,
  scopes: z.array(z.string()).nullable(),
  seconds: z.number().nullable(),
  refreshes: z.boolean().nullable().default(true),
  ended: z.string().nullable(),
})
type Row = z.output<typeof row>

/** Answers one token request; calls `mailSoon` if a mail waits. */
export async function issueTokens(
  world: World,
  request: TokenRequest,
  mailSoon: () => void,
): Promise<Tokens | OAuthError> {
  const { form, proof } = request
  if (form.has('client_secret') || form.has('client_assertion')) {
    return oauthError('invalid_client', 'Clients have no secret here: send client_id alone.')
  }
  const resource = form.get('resource')
  if (resource !== undefined && !isResource(world.config, resource)) {
    return oauthError('invalid_target', 'The resource is not one of this service.')
  }
  const accessToken = newToken(world, 'access')
  const given = { accessToken, digest: await digestOfToken(world, accessToken, proof?.key) }
  switch (form.get('grant_type')) {
    case 'authorization_code':
      return redeemCode(world, request, given, mailSoon)
    case 'refresh_token':
      return refresh(world, request, given, mailSoon)
    case deviceGrant:
      return redeemDeviceCode(world, request, given, mailSoon)
    case undefined:
      return oauthError('invalid_request', 'grant_type is missing.')
    default:
      return oauthError(
        'unsupported_grant_type',
        `grant_type is authorization_code, refresh_token or ${deviceGrant}.`,
      )
  }
}

type Given = { accessToken: string; digest: string }

async function redeemCode(
  world: World,
  { form, proof }: TokenRequest,
  given: Given,
  mailSoon: () => void,
): Promise<Tokens | OAuthError> {
  const [code, client, verifier] = ['code', 'client_id', 'code_verifier'].map((one) =>
    form.get(one),
  )
  if (code === undefined || client === undefined || verifier === undefined) {
    return oauthError('invalid_request', 'code, client_id and code_verifier are needed.')
  }
  if (!isTokenOfKind('code', code)) return tokenErrorOf('invalid_grant')
  const refreshToken = newToken(world, 'refresh')
  const redeemed = await tokenDatabase(world).one(
    'oauth_redeem_code',
    {
      code_digest: await digestOfToken(world, code),
      client_id: client,
      challenge: encodeForUrl(await sha256(new TextEncoder().encode(verifier))),
      access_digest: given.digest,
      refresh_digest: await digestOfToken(world, refreshToken),
      redirect_uri: form.get('redirect_uri') ?? null,
      ...proofArgs(proof),
    },
    row,
  )
  return tokenResponseOf(world, redeemed, { ...given, refreshToken, proof }, mailSoon)
}

async function redeemDeviceCode(
  world: World,
  { form, proof }: TokenRequest,
  given: Given,
  mailSoon: () => void,
): Promise<Tokens | OAuthError> {
  const [code, client] = ['device_code', 'client_id'].map((one) => form.get(one))
  if (code === undefined || client === undefined) {
    return oauthError('invalid_request', 'device_code and client_id are needed.')
  }
  if (!isTokenOfKind('device', code)) return tokenErrorOf('invalid_grant')
  const refreshToken = newToken(world, 'refresh')
  const redeemed = await tokenDatabase(world).one(
    'oauth_redeem_device',
    {
      device_digest: await digestOfToken(world, code),
      client_id: client,
      access_digest: given.digest,
      refresh_digest: await digestOfToken(world, refreshToken),
      ...proofArgs(proof),
    },
    row,
  )
  return tokenResponseOf(world, redeemed, { ...given, refreshToken, proof }, mailSoon)
}

async function refresh(
  world: World,
  { form, proof }: TokenRequest,
  given: Given,
  mailSoon: () => void,
): Promise<Tokens | OAuthError> {
  const [token, client] = ['refresh_token', 'client_id'].map((one) => form.get(one))
  if (token === undefined || client === undefined) {
    return oauthError('invalid_request', 'refresh_token and client_id are needed.')
  }
  if (!isTokenOfKind('refresh', token)) return tokenErrorOf('invalid_grant')
  const scopes = scopesIn(form.get('scope') ?? '')
  if (!scopes) return tokenErrorOf('invalid_scope')
  const refreshToken = await nextRefreshToken(world, token)
  const refreshed = await tokenDatabase(world).one(
    'oauth_refresh',
    {
      refresh_digest: await digestOfToken(world, token),
      successor_digest: await digestOfToken(world, refreshToken),
      client_id: client,
      access_digest: given.digest,
      asked_scopes: scopes.length === 0 ? null : scopes,
      ...proofArgs(proof),
    },
    row,
  )
  return tokenResponseOf(world, refreshed, { ...given, refreshToken, proof }, mailSoon)
}

function tokenDatabase(world: World): CallerDatabase {
  return unbound(world.db)
}

function proofArgs(proof: Proof | undefined) {
  return { dpop_key: proof?.key ?? null, proof_digest: proof?.digest ?? null }
}

async function tokenResponseOf(
  world: World,
  found: Row | undefined,
  given: Given & { refreshToken: string; proof: Proof | undefined },
  mailSoon: () => void,
): Promise<Tokens | OAuthError> {
  if (!found) throw new Error('the token endpoint got no row')
  const { scopes, seconds, ended } = found
  if (ended !== null && found.outcome === 'reused') {
    await notifyTokenReuse(world, ended)
    mailSoon()
  }
  if (scopes === null || seconds === null) return tokenErrorOf(found.outcome)
  return {
    access_token: given.accessToken,
    token_type: given.proof ? 'DPoP' : 'Bearer',
    expires_in: seconds,
    ...(found.refreshes === false ? {} : { refresh_token: given.refreshToken }),
    scope: scopes.join(' '),
  }
}

function tokenErrorOf(refused: Row['outcome']): OAuthError {
  switch (refused) {
    case 'invalid_client':
      return oauthError('invalid_client', 'The client is not known: register it again.')
    case 'invalid_dpop_proof':
      return oauthError('invalid_dpop_proof', 'The DPoP proof was used before.')
    case 'invalid_scope':
      return oauthError('invalid_scope', 'The scope is not within what was granted.')
    case 'authorization_pending':
      return oauthError('authorization_pending', 'The owner has not decided yet: ask again.')
    case 'slow_down':
      return oauthError('slow_down', 'Wait five seconds longer between two requests from now on.')
    case 'access_denied':
      return oauthError('access_denied', 'The owner of the account said no.')
    case 'expired_token':
      return oauthError('expired_token', 'Nobody decided in time: begin again.')
    case 'granted':
    case 'rotated':
    case 'repeated':
    case 'reused':
    case 'invalid_grant':
      return oauthError(
        'invalid_grant',
        'The code or token is not good (any more): ask the owner again.',
      )
  }
}

/** Access that the owner gives. */
export type GrantChoice = {
  /** Granted scopes; each was requested, or is covered by one that was. */
  scopes: readonly GrantScope[]
  /** Most that the app may pay at once without asking; if absent, only the account's limits apply. */
  maxPerPaymentUsdMicros?: bigint
  /** The same for 24 hours. */
  maxPerDayUsdMicros?: bigint
  /** Days until the grant ends: 1 to 180. */
  days: number
  /** Another app of the account, which ends when this one begins; what it spent counts against this one's caps. */
  replaces?: string
}

/**
 * Gives access and returns the address for the browser. Needs a fresh proof. Throws a Rejection:
 * proof_required, account_on_hold, account_frozen, too_many_apps, invalid_request.
 */
export async function grantAccess(
  session: OwnerSession,
  request: AuthorizationRequest,
  choice: GrantChoice,
): Promise<string> {
  const { world, db } = session
  const code = newToken(world, 'code')
  await db.run('owner_grant_access', {
    code_digest: await digestOfToken(world, code),
    asked: { ...askedOf(request), replaces: choice.replaces ?? null },
    asked_scopes: [...request.scopes],
    ...(await grantArgs(session, request.redirectHost, choice)),
  })
  return sendBack(world, request.redirectUri, { code, ...stateOf(request) })
}

/** Returns the choice as the database takes it, with the mail about it; `host` is what the owner knows the app by. */
export async function grantArgs(session: OwnerSession, host: string, choice: GrantChoice) {
  const scope = choice.scopes.join(' ')
  return {
    scopes: [...choice.scopes],
    max_per_payment_usd_micros: choice.maxPerPaymentUsdMicros?.toString() ?? null,
    max_per_day_usd_micros: choice.maxPerDayUsdMicros?.toString() ?? null,
    days: choice.days,
    mail: await sealSessionNotice(session, (webUrl, deed) =>
      appConnected(webUrl, { ...deed, host, scope }),
    ),
  }
}

/** Refuses access and returns the address for the browser. */
export function denyAccess(world: Pick<World, 'config'>, request: AuthorizationRequest): string {
  return sendBack(world, request.redirectUri, {
    error: 'access_denied',
    error_description: 'The owner of the account said no.',
    ...stateOf(request),
  })
}

function stateOf({ state }: AuthorizationRequest): { state?: string } {
  return state === undefined ? {} : { state }
}

/** Parts of a request that are stored; a program with a device code has no address and no challenge. */
type Asked = Pick<AuthorizationRequest, 'client' | 'redirectUri' | 'redirectHost' | 'dpopKey'> & {
  codeChallenge?: string
}

/** Returns the request as the database stores it; redeeming the code is checked against it. */
export function askedOf(request: Asked) {
  const { client, redirectUri, redirectHost, codeChallenge, dpopKey } = request
  return {
    client_id: client.id,
    client_name: client.name,
    client_host: client.host ?? null,
    redirect_uri: redirectUri,
    redirect_host: redirectHost,
    challenge: codeChallenge ?? null,
    dpop_key: dpopKey ?? null,
    is_bound: client.isBound,
    refreshes: client.refreshes,
  }
}

const appRow = z.object({ host: z.string() })

/** Puts the mail into the outbox, once for each grant; the activity feed has its item already. */
async function notifyTokenReuse(world: World, ended: string): Promise<void> {
  const db = unbound(world.db)
  const app = await db.one('oauth_ended_app', { ended }, appRow)
  if (!app) return
  const mail = await sealForOutbox(world, appTokenReused(world.config.WEB_URL, app))
  await db.run('oauth_tell_owner', { ended, mail })
}

/** Revokes the token in the form; undefined is the empty answer of success. */
export async function revokeToken(
  world: World,
  { form, proof }: TokenRequest,
): Promise<OAuthError | undefined> {
  const token = form.get('token')
  if (token === undefined) return oauthError('invalid_request', 'token is missing.')
  const isAccess = isTokenOfKind('access', token)
  if (isAccess || isTokenOfKind('refresh', token)) {
    const digest = await digestOfToken(world, token, isAccess ? proof?.key : undefined)
    await unbound(world.db).run('oauth_revoke', { token_digest: digest })
  }
  return undefined
}
