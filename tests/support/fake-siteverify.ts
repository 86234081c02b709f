/**
 * A fake of Cloudflare Turnstile's siteverify, as strict as its documentation: a token has at most 2,048
 * characters, lasts 300 seconds and is verified once, or again with the same idempotency key.
 */
import * as z from 'zod'
import type { Fetch } from '../../shared/world.ts'
import { randomBytes } from './seed.ts'

const address = 'https://challenges.cloudflare.com/turnstile/v0/siteverify'
const tokenSeconds = 300
export const siteKey = '0x4AAAAAAAexampleSiteKey'
export const secretKey = '0x4AAAAAAAexampleSecretKey'

const sent = z.strictObject({
  secret: z.string().optional(),
  response: z.string().optional(),
  remoteip: z.union([z.ipv4(), z.ipv6()]).optional(),
  idempotency_key: z.uuid().optional(),
})

type Token = { hostname: string; solvedAt: Date; verifiedBy?: string | undefined }

export type FakeSiteverify = {
  fetch: Fetch
  /** Returns the token that the widget gives to a visitor of a page on this host. */
  solve(hostname?: string): string
  /** Bodies that were received, oldest first. */
  received: z.output<typeof sent>[]
  /** Number of the next requests that are verified and whose answer is lost. */
  lost: number
  /** Answers everything in place of the documented answers; undefined for those. */
  answer?: (() => Promise<Response>) | undefined
}

/** Opens a fake whose tokens age by this clock. It passes on requests to other addresses. */
export function openFakeSiteverify(now: () => Date): FakeSiteverify {
  const tokens = new Map<string, Token>()
  const fake: FakeSiteverify = {
    received: [],
    lost: 0,
    solve(hostname = 'localhost') {
      const token = `0.${randomBytes(300).toString('base64url')}`
      tokens.set(token, { hostname, solvedAt: now() })
      return token
    },
    async fetch(input, init) {
      const request = new Request(input, init)
      if (request.url !== address) return fetch(request)
      if (request.method !== 'POST') return new Response(null, { status: 405 })
      const body = sent.parse(await request.json())
      fake.received.push(body)
      if (fake.answer) return fake.answer()
      const verified = verify(tokens, body, now())
      if (fake.lost > 0) {
        fake.lost -= 1
        throw new Error('the answer is lost')
      }
      return Response.json(verified)
    },
  }
  return fake
}

function verify(tokens: Map<string, Token>, body: z.output<typeof sent>, at: Date) {
  const failed = (code: string) => ({ success: false, 'error-codes': [code], messages: [] })
  const { secret, response, idempotency_key: key } = body
  if (secret === undefined || secret === '') return failed('missing-input-secret')
  if (secret !== secretKey) return failed('invalid-input-secret')
  if (response === undefined || response === '') return failed('missing-input-response')
  const token = response.length > 2_048 ? undefined : tokens.get(response)
  if (!token) return failed('invalid-input-response')
  const age = (at.getTime() - token.solvedAt.getTime()) / 1_000
  const isRepeated = key !== undefined && key === token.verifiedBy
  const isUsed = 'verifiedBy' in token && !isRepeated
  if (isUsed || age > tokenSeconds) return failed('timeout-or-duplicate')
  token.verifiedBy = key
  return {
    success: true,
    'error-codes': [],
    challenge_ts: token.solvedAt.toISOString(),
    hostname: token.hostname,
    action: '',
    cdata: '',
    metadata: { interactive: false },
  }
}
