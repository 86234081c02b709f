/**
 * The owner's decision about an app. A yes issues a code, which the client must redeem within a minute.
 * Only then does the grant begin; it replaces an earlier grant of the same app.
 */
import { digestOfToken, newToken } from '../auth/access-token.ts'
import type { OwnerSession } from '../auth/own-session.ts'
import { sealSessionNotice } from '../auth/own-session.ts'
import { appConnected } from '../mail/app-messages.ts'
import type { World } from '../world.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import type { GrantScope } from './scopes.ts'
import { sendBack } from './send-back.ts'

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
  const { redirectHost } = request
  const scope = choice.scopes.join(' ')
  await db.run('owner_grant_access', {
    code_digest: await digestOfToken(world, code),
    asked: { ...askedOf(request), replaces: choice.replaces ?? null },
    asked_scopes: [...request.scopes],
    scopes: [...choice.scopes],
    max_per_payment_usd_micros: choice.maxPerPaymentUsdMicros?.toString() ?? null,
    max_per_day_usd_micros: choice.maxPerDayUsdMicros?.toString() ?? null,
    days: choice.days,
    mail: await sealSessionNotice(session, (webUrl, deed) =>
      appConnected(webUrl, { ...deed, host: redirectHost, scope }),
    ),
  })
  return sendBack(world, request.redirectUri, { code, ...stateOf(request) })
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

/** Returns the request as the database stores it; redeeming the code is checked against it. */
function askedOf(request: AuthorizationRequest) {
  const { client, redirectUri, redirectHost, codeChallenge, dpopKey } = request
  return {
    client_id: client.id,
    client_name: client.name,
    client_host: client.host ?? null,
    redirect_uri: redirectUri,
    redirect_host: redirectHost,
    challenge: codeChallenge,
    dpop_key: dpopKey ?? null,
    is_bound: client.isBound,
    refreshes: client.refreshes,
  }
}
