/**
 * The owner's yes or no to an app. Yes gives out a code that the client turns into tokens within a
 * minute; only then does the grant begin, in place of the one that the same app had before.
 */
import { digestOfToken, newToken } from '../auth/access-token.ts'
import type { OwnSession } from '../auth/own-session.ts'
import { notice } from '../auth/own-session.ts'
import { appConnected } from '../mail/app-messages.ts'
import type { World } from '../world.ts'
import type { AuthorizationRequest } from './authorization-request.ts'
import type { GrantScope } from './scopes.ts'
import { sendBack } from './send-back.ts'

/** What the owner gives. */
export type GrantChoice = {
  /** Each asked for, or narrower than one that was. */
  scopes: readonly GrantScope[]
  /** What it may move by itself at most; without one, the account's limits alone hold. */
  maxPerPaymentUsdMicros?: bigint
  /** The same, in 24 hours. */
  maxPerDayUsdMicros?: bigint
  /** After which it is over: 1 to 180. */
  days: number
}

/**
 * Gives access; answers where the browser goes. More than `read` needs a fresh proof. Throws a
 * Rejection: proof_required, account_guarded, account_frozen, too_many_apps, invalid_request.
 */
export async function grantAccess(
  session: OwnSession,
  request: AuthorizationRequest,
  choice: GrantChoice,
): Promise<string> {
  const { world, db } = session
  const code = newToken(world, 'code')
  const { redirectHost } = request
  const scope = choice.scopes.join(' ')
  await db.run('owner_grant_access', {
    code_digest: await digestOfToken(world, code),
    asked: askedOf(request),
    asked_scopes: [...request.scopes],
    scopes: [...choice.scopes],
    max_per_payment_usd_micros: choice.maxPerPaymentUsdMicros?.toString() ?? null,
    max_per_day_usd_micros: choice.maxPerDayUsdMicros?.toString() ?? null,
    days: choice.days,
    mail: await notice(session, (webUrl, deed) =>
      appConnected(webUrl, { ...deed, host: redirectHost, scope }),
    ),
  })
  return sendBack(world, request.redirectUri, { code, ...stateOf(request) })
}

/** Refuses access; answers where the browser goes. */
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

/** What redeeming the code is held to, as the database keeps it. */
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
