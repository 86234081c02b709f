/**
 * Verifies that the sign-up page was sent by somebody who passed Cloudflare Turnstile, if the operator set
 * its keys. The challenge makes sign-ups by the thousand expensive; it shows effort, not identity. Only the
 * page can ask for it: with a challenge, the operation for agents refuses instead (request-signup-verification).
 * Source: https://developers.cloudflare.com/turnstile/get-started/server-side-validation/
 */
import * as z from 'zod'
import { parseJson } from '../base64.ts'
import { fail, type Refusal } from '../contract/errors.ts'
import { type SafeRequest, safeFetch } from '../egress/safe-fetch.ts'
import { type Config, required } from '../env.ts'
import type { World } from '../world.ts'
import type { Asking } from './signup.ts'

/** Origin of the widget's script and frame. */
export const challengeOrigin = 'https://challenges.cloudflare.com'

/** Form field in which the widget puts its token. */
export const challengeField = 'cf-turnstile-response'

const verifyUrl = new URL('/turnstile/v0/siteverify', challengeOrigin)
const tokenLengthMax = 2_048
const ipAddress = z.union([z.ipv4(), z.ipv6()])
const limits = { timeoutMilliseconds: 5_000, bytesMax: 16_384 }

/** Codes that blame the token. All others blame our request, our secret or Cloudflare. */
const aboutTheToken = ['missing-input-response', 'invalid-input-response', 'timeout-or-duplicate']

const verification = z.object({
  success: z.boolean(),
  hostname: z.string().optional(),
  'error-codes': z.array(z.string()).default([]),
})
type Verification = z.output<typeof verification>

/** Returns the site key of the widget; undefined if sign-up has no challenge. */
export function challengeSiteKey({
  TURNSTILE_SITE_KEY: key,
}: Pick<Config, 'TURNSTILE_SITE_KEY'>): string | undefined {
  return key === '' ? undefined : key
}

/** Returns a refusal unless the token is valid here or no challenge is set. A token works once, for 300 seconds. */
export async function challengeRefusal(
  { world, client }: Asking,
  token: string,
): Promise<Refusal<'challenge_failed' | 'unavailable'> | undefined> {
  const { config } = world
  if (challengeSiteKey(config) === undefined) return undefined
  if (token === '' || token.length > tokenLengthMax) return fail('challenge_failed')
  const answer = await verify(world, {
    secret: required(config, 'TURNSTILE_SECRET_KEY'),
    response: token,
    // Without a proxy that names clients there is no address to send.
    ...(ipAddress.safeParse(client).success && { remoteip: client }),
    idempotency_key: world.newId(),
  })
  if (typeof answer === 'string') return fail('unavailable', { log: `siteverify: ${answer}` })
  return refusalFor(answer, world)
}

/** Asks once, and once more if no answer came: the idempotency key lets the same token be verified again. */
async function verify(
  world: World,
  body: Readonly<Record<string, string>>,
): Promise<Verification | string> {
  const request: SafeRequest = {
    url: verifyUrl,
    method: 'POST',
    headers: [['content-type', 'application/json']],
    body: new TextEncoder().encode(JSON.stringify(body)),
  }
  const first = await safeFetch(world, request, limits)
  const isLost = first.kind === 'timeout' || first.kind === 'unreachable'
  const fetched = isLost ? await safeFetch(world, request, limits) : first
  if (fetched.kind !== 'answered') return fetched.kind
  const read = verification.safeParse(parseJson(new TextDecoder().decode(fetched.body)))
  return read.success ? read.data : `status ${fetched.status} and another body than documented`
}

function refusalFor(
  { success, hostname, 'error-codes': codes }: Verification,
  world: World,
): Refusal<'challenge_failed' | 'unavailable'> | undefined {
  if (!success) {
    if (codes.some((code) => aboutTheToken.includes(code))) return fail('challenge_failed')
    return fail('unavailable', { log: `siteverify: ${codes.join()}` })
  }
  if (hostname === new URL(world.config.WEB_URL).hostname) return undefined
  // Whoever shows our widget on another site has its visitors solve the challenge.
  world.log({ work: 'challenge', log: `solved at ${hostname ?? 'no host'}` })
  return fail('challenge_failed')
}
