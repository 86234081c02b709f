/**
 * The device authorization grant (RFC 8628): a program without a browser gets a code that its user enters in a browser
 * anywhere. The page there and the program show the same words, so that nobody allows another program by mistake.
 */
import * as z from 'zod'
import { digestOfToken, newToken } from '../auth/access-token.ts'
import { credentialOf } from '../auth/api-key.ts'
import type { OwnerSession } from '../auth/new-session.ts'
import { unbound } from '../db/database.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { type OAuthError, oauthError } from './answer.ts'
import { findRegistered } from './client.ts'
import type { Client } from './client-metadata.ts'
import { type GrantScope, isResource, scopesIn } from './issuer.ts'
import { askedOf, type GrantChoice, grantArgs } from './token.ts'

/** Answer to a device authorization request (RFC 8628 section 3.2), with the words to compare. */
export type DeviceAuthorization = {
  device_code: string
  user_code: string
  verification_uri: string
  verification_uri_complete: string
  expires_in: number
  interval: number
  phrase: string
}

/** Place that stands for the address of a program which has none. */
export const deviceHost = 'a terminal'

const doneRow = z.object({ done: z.boolean() })

const expiresSeconds = 600
const intervalSeconds = 5
/** Characters of user agents that are kept. */
const userAgentLength = 256

/** Starts a request; `from` is what is known of who asks. */
export async function beginDevice(
  world: World,
  form: ReadonlyMap<string, string>,
  from: { client: string; userAgent: string },
): Promise<DeviceAuthorization | OAuthError> {
  const id = form.get('client_id')
  if (id === undefined) return oauthError('invalid_request', 'client_id is missing.')
  const scopes = scopesIn(form.get('scope') ?? '')
  if (!scopes) return oauthError('invalid_scope', 'A scope is not known here.')
  const resource = form.get('resource')
  if (resource !== undefined && !isResource(world.config, resource)) {
    return oauthError('invalid_target', 'The resource is not one of this service.')
  }
  const client = await findRegistered(world, id)
  if ('refused' in client) return oauthError('invalid_client', client.refused)
  if (!client.usesDeviceCodes) {
    return oauthError('unauthorized_client', 'The client registered without the device grant type.')
  }
  return openRequest(world, client, scopes.length === 0 ? ['read'] : scopes, from)
}

async function openRequest(
  world: World,
  client: Client,
  scopes: readonly GrantScope[],
  { client: network, userAgent }: { client: string; userAgent: string },
): Promise<DeviceAuthorization> {
  const deviceCode = newToken(world, 'device')
  const userCode = newUserCode(world)
  const phrase = newPhrase(world)
  await unbound(world.db).run('oauth_begin_device', {
    device_digest: await digestOfToken(world, deviceCode),
    user_digest: await digestOfUserCode(world, userCode),
    asked: askedOf({ client, redirectUri: '', redirectHost: deviceHost }),
    asked_scopes: [...scopes],
    phrase,
    client: network,
    user_agent: userAgent.slice(0, userAgentLength),
  })
  const page = `${world.config.WEB_URL}/device`
  return {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?user_code=${userCode}`,
    expires_in: expiresSeconds,
    interval: intervalSeconds,
    phrase,
  }
}

/** Letters without vowels, so that no code is a word (RFC 8628 section 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const userCodeLength = 8
const userCodeForm = new RegExp(`^[${letters}]{${userCodeLength}}$`)

/** Returns a code as it is shown, from 20^8: `BCDF-GHJK`. */
function newUserCode(world: Pick<World, 'randomBytes'>): string {
  return shownUserCode(pick(world, letters, userCodeLength).join(''))
}

/** Reads a code as people type it; undefined if it cannot be one. */
export function readUserCode(typed: string): string | undefined {
  const code = typed.toUpperCase().replaceAll(/[^A-Z]/g, '')
  return userCodeForm.test(code) ? shownUserCode(code) : undefined
}

function shownUserCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

/** Returns the keyed hash under which the database finds a code. */
export function digestOfUserCode(world: Pick<World, 'config'>, code: string): Promise<string> {
  return credentialOf(`device ${code}`, required(world.config, 'API_KEY_PEPPER'))
}

const colours =
  'amber azure black blue brown coral green grey ivory lemon olive pink red rose teal white'
const animals = 'bear crab crow deer duck frog goat hare lion lynx mole moth seal swan toad wolf'
const things = 'boat bell book door drum flag gate harp kite lamp moon ring ship star tree wall'

/** Returns three words, one of 4,096 phrases. They are compared, and are no secret. */
function newPhrase(world: Pick<World, 'randomBytes'>): string {
  const words = [colours, animals, things].flatMap((list) => pick(world, list.split(' '), 1))
  return words.join(' ')
}

/** Picks evenly: a byte from the last, incomplete turn through the list is thrown away. */
function pick(
  { randomBytes }: Pick<World, 'randomBytes'>,
  from: string | readonly string[],
  count: number,
): string[] {
  const fair = 256 - (256 % from.length)
  const picked: string[] = []
  while (picked.length < count) {
    const usable = [...randomBytes(count)].filter((byte) => byte < fair)
    picked.push(...usable.map((byte) => from[byte % from.length] ?? ''))
  }
  return picked.slice(0, count)
}

/**
 * Gives the program that shows this code what the owner chose; false if the code has ended. Needs a fresh
 * proof. Throws a Rejection: proof_required, account_on_hold, account_frozen, too_many_apps, invalid_request.
 */
export async function grantDevice(
  session: OwnerSession,
  userCode: string,
  choice: GrantChoice,
): Promise<boolean> {
  const question = {
    user_digest: await digestOfUserCode(session.world, userCode),
    replaces: choice.replaces ?? null,
    ...(await grantArgs(session, deviceHost, choice)),
  }
  return (await session.db.one('owner_grant_device', question, doneRow))?.done ?? false
}

/** Refuses the program that shows this code; false if the code has ended. */
export async function denyDevice({ world, db }: OwnerSession, userCode: string): Promise<boolean> {
  const user_digest = await digestOfUserCode(world, userCode)
  return (await db.one('owner_deny_device', { user_digest }, doneRow))?.done ?? false
}
