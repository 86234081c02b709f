/**
 * Repeats of an Idempotency-Key with the same body, by one key or app, get the same answer for 24 hours;
 * another body is refused. A repeat that comes while the first request runs waits briefly for its answer,
 * then is asked to come back. Once the worker of the first has been silent for a minute, a repeat continues
 * its work; a request that had sent a secret is told as lost instead, after two minutes.
 */
import * as z from 'zod'
import { credentialOf } from '../auth/api-key.ts'
import { decodeBytes, encodeBase64 } from '../base64.ts'
import { fail, isRefusal, type Refusal } from '../contract/errors.ts'
import type { Operation } from '../contract/operation.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import type { Context } from './handler.ts'

const claim = z.object({
  claim: z.uuid(),
  outcome: z.enum(['claimed', 'running', 'answered', 'lost', 'mismatch', 'foreign']),
  status: z.int().nullable(),
  body: z.string().nullable(),
})

/** Number of times that a repeat looks for the first request's answer. */
const looksMax = 24
const firstPauseMilliseconds = 40
const pauseMaxMilliseconds = 1_000

const lost = {
  message: 'A request with this Idempotency-Key was sent and came to no answer that could be kept.',
  hint: 'Look at the site for what came of it. To send it again, use a new Idempotency-Key.',
}

const foreign = {
  message:
    'This Idempotency-Key was used by the key or app that yours took the place of, and its answer is not yours.',
  hint: 'What it did stands: look for it in the activity, or ask transfer_status. For something new, use a new Idempotency-Key.',
}

/**
 * Runs the work at most once for a key and returns the kept body. A refusal or an error releases the key,
 * unless a payment was reserved, a mail entered or a secret sent under it.
 */
export async function runOnce(
  contract: Operation,
  key: string,
  body: string,
  context: Context,
  run: (claim: string) => Promise<string | Refusal>,
): Promise<string | Refusal> {
  const pepper = required(context.world.config, 'API_KEY_PEPPER')
  const digest = await credentialOf(`${contract.id} ${body}`, pepper)
  const kept = await claimOrWait(contract, key, digest, context)
  if (typeof kept === 'string' || isRefusal(kept)) return kept
  const operation = contract.id
  const result = await run(kept.claim).catch(async (error: unknown) => {
    await keepAnswer(context, { operation, key })
    throw error
  })
  const sealed = typeof result === 'string' && (await sealAnswer(context.world, kept.claim, result))
  const answered = sealed ? { status: 200, body: sealed } : {}
  await keepAnswer(context, { operation, key, ...answered })
  return result
}

type Kept = { operation: string; key: string; status?: number; body?: string }

/** Stores the answer of a claim; only logs a failure, since the work is done and the claim expires. */
async function keepAnswer(context: Context, kept: Kept): Promise<void> {
  await context.db.run('keep_answer', kept).catch((error: unknown) => {
    const { requestId } = context
    context.world.log({ requestId, operation: kept.operation, log: String(error) })
  })
}

async function claimOrWait(
  contract: Operation,
  key: string,
  digest: string,
  context: Context,
): Promise<{ claim: string } | string | Refusal> {
  const question = {
    needed: contract.access,
    operation: contract.id,
    key,
    request_digest: digest,
  }
  for (let look = 0, pause = firstPauseMilliseconds; look < looksMax; look += 1, pause *= 1.5) {
    const found = await context.db.one('claim_idempotency', question, claim)
    if (found?.outcome === 'claimed') return { claim: found.claim }
    if (found?.outcome === 'mismatch') return fail('idempotency_mismatch')
    if (found?.outcome === 'lost') return fail('conflict', lost)
    if (found?.outcome === 'foreign') return fail('conflict', foreign)
    if (found?.outcome === 'answered') {
      return openAnswer(context.world, found.claim, found.body ?? '')
    }
    await context.world.pause(Math.min(pause, pauseMaxMilliseconds))
  }
  return fail('conflict', {
    message: 'A request with this Idempotency-Key is still running.',
    retryAfterSeconds: 2,
  })
}

const cipher = 'AES-GCM'
const nonceBytes = 12
const encoder = new TextEncoder()

/** Seals the answer of a claim; returns nonce and ciphertext in base64. */
async function sealAnswer(
  { config, randomBytes }: Pick<World, 'config' | 'randomBytes'>,
  claim: string,
  answer: string,
): Promise<string> {
  const nonce = new Uint8Array(randomBytes(nonceBytes))
  const key = await answerKey(required(config, 'API_KEY_PEPPER'))
  const sealed = await crypto.subtle.encrypt(boundTo(nonce, claim), key, encoder.encode(answer))
  return encodeBase64(new Uint8Array([...nonce, ...new Uint8Array(sealed)]))
}

/** Opens the answer of a claim; throws if it was sealed for another claim or under another pepper. */
async function openAnswer(
  { config }: Pick<World, 'config'>,
  claim: string,
  kept: string,
): Promise<string> {
  const bytes = decodeBytes(kept) ?? new Uint8Array()
  const key = await answerKey(required(config, 'API_KEY_PEPPER'))
  const bound = boundTo(bytes.subarray(0, nonceBytes), claim)
  const answer = await crypto.subtle.decrypt(bound, key, bytes.subarray(nonceBytes))
  return new TextDecoder().decode(answer)
}

function boundTo(iv: Uint8Array<ArrayBuffer>, claim: string) {
  return { name: cipher, iv, additionalData: encoder.encode(claim) }
}

/** Derives the key by HKDF (RFC 5869), because the pepper itself makes credentials. */
async function answerKey(pepper: string) {
  const secret = await crypto.subtle.importKey('raw', encoder.encode(pepper), 'HKDF', false, [
    'deriveKey',
  ])
  const info = encoder.encode('kept answers')
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: encoder.encode('aoa/v1'), info }
  const form = { name: cipher, length: 256 }
  return crypto.subtle.deriveKey(derivation, secret, form, false, ['encrypt', 'decrypt'])
}
