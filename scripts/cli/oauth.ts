/** The OAuth calls of this program: registration, device codes (RFC 8628), refresh and revocation. */
import type { Call } from './command.ts'
import { keepSession, readSession, type Session } from './session.ts'

/** Answer of an endpoint, with `error` if it refused. */
export type OAuthAnswer = Record<string, unknown>

type Service = { baseUrl: string; fetch: typeof fetch }

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'
const userAgent = 'aoa'
/** Milliseconds before its end at which an access token is replaced. */
const earlyMilliseconds = 30_000

async function answerOf(response: Response): Promise<OAuthAnswer> {
  const body: unknown = await response.json().catch(() => undefined)
  if (typeof body === 'object' && body !== null) return { ...body }
  throw new Error(`the service answered ${response.status} without JSON: is this its address?`)
}

async function post({ baseUrl, fetch }: Service, path: string, form: Record<string, string>) {
  const headers = { 'user-agent': userAgent }
  const body = new URLSearchParams(form)
  return answerOf(await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body }))
}

/** Registers this program and returns its client id. */
export async function registerProgram({ baseUrl, fetch }: Service, name: string): Promise<string> {
  const body = JSON.stringify({
    client_name: name,
    grant_types: [deviceGrant, 'refresh_token'],
    response_types: [],
  })
  const headers = { 'content-type': 'application/json', 'user-agent': userAgent }
  const answer = await answerOf(
    await fetch(`${baseUrl}/oauth/register`, { method: 'POST', headers, body }),
  )
  return textIn(answer, 'client_id')
}

/** A login that waits for the owner. */
export type Waiting = {
  deviceCode: string
  userCode: string
  phrase: string
  page: string
  intervalSeconds: number
}

/** Asks for a code. */
export async function askForCode(
  service: Service,
  client: string,
  scope: string,
): Promise<Waiting> {
  const answer = await post(service, '/oauth/device', { client_id: client, scope })
  const interval = answer['interval']
  return {
    deviceCode: textIn(answer, 'device_code'),
    userCode: textIn(answer, 'user_code'),
    phrase: textIn(answer, 'phrase'),
    page: textIn(answer, 'verification_uri'),
    intervalSeconds: typeof interval === 'number' ? interval : 5,
  }
}

/** Asks once for the tokens of a code; the answer may be that the owner has not decided. */
export function pollForTokens(service: Service, client: string, deviceCode: string) {
  const form = { grant_type: deviceGrant, client_id: client, device_code: deviceCode }
  return post(service, '/oauth/token', form)
}

/** Returns the session with an access token that is good for a while, and new ones if it had to ask. */
async function refreshed(session: Session, send: typeof fetch, now: number): Promise<Session> {
  if (session.expires_at - earlyMilliseconds > now) return session
  const form = {
    grant_type: 'refresh_token',
    client_id: session.client_id,
    refresh_token: session.refresh_token,
  }
  const answer = await post({ baseUrl: session.base_url, fetch: send }, '/oauth/token', form)
  if ('error' in answer) throw new LoginNeeded()
  return { ...session, ...tokensIn(answer, now) }
}

/** Returns a function that answers the token of the moment, from the file, which other programs of this user change too. */
export function tokenOf({ env, fetch: send, now }: Pick<Call, 'env' | 'fetch' | 'now'>) {
  return async (): Promise<string> => {
    const session = readSession(env)
    if (!session) throw new LoginNeeded()
    const next = await refreshed(session, send, now())
    if (next !== session) keepSession(env, next)
    return next.access_token
  }
}

/** Error of a session that the service no longer accepts. */
export class LoginNeeded extends Error {
  constructor() {
    super('not logged in (any more): run aoa login')
  }
}

/** Returns the tokens of an answer as a session keeps them. */
export function tokensIn(answer: OAuthAnswer, now: number) {
  const seconds = answer['expires_in']
  return {
    access_token: textIn(answer, 'access_token'),
    refresh_token: textIn(answer, 'refresh_token'),
    expires_at: now + (typeof seconds === 'number' ? seconds : 0) * 1000,
  }
}

/** Ends the access of this program at the service. */
export async function revoke(session: Session, send: typeof fetch): Promise<void> {
  const form = { client_id: session.client_id, token: session.refresh_token }
  await post({ baseUrl: session.base_url, fetch: send }, '/oauth/revoke', form)
}

function textIn(answer: OAuthAnswer, name: string): string {
  const value = answer[name]
  if (typeof value === 'string') return value
  const told = [answer['error_description'], answer['error'], `there is no ${name}`]
  throw new Error(`the service refused: ${told.find((one) => typeof one === 'string')}`)
}
