/**
 * About a second of a browser's work, so that doing something by the thousand is dear. Each challenge is
 * signed for one purpose and solves no other. It shows that somebody took the trouble, not who.
 */
import type { DeriveKeyFunction } from 'altcha-lib'
import { createChallenge, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2'
import * as z from 'zod'
import { parseJson } from '../base64.ts'
import { fail, Rejection } from '../contract/errors.ts'
import { sha256Hex } from '../digest.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'

/** Iterations of one try; a browser makes some three hundred tries in a second. */
const cost = 5_000
const triesMin = 200
const goodMilliseconds = 600_000
const derive: DeriveKeyFunction = deriveKey

const payload = z.object({
  challenge: z.object({
    parameters: z.object({
      algorithm: z.literal('PBKDF2/SHA-256'),
      nonce: z.string(),
      salt: z.string(),
      cost: z.literal(cost),
      keyLength: z.int(),
      keyPrefix: z.string(),
      keySignature: z.string(),
      data: z.strictObject({ purpose: z.string(), until: z.number() }),
    }),
    signature: z.string(),
  }),
  solution: z.object({ counter: z.int(), derivedKey: z.string() }),
})

/** A challenge for this purpose, as a page hands it to its script; good for ten minutes. */
export async function challengeFor(world: World, purpose: string): Promise<string> {
  const [extra = 0] = world.randomBytes(1)
  const challenge = await createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost,
    counter: triesMin + extra,
    data: { purpose, until: world.now().getTime() + goodMilliseconds },
    deriveKey: derive,
    ...(await secretsOf(world)),
  })
  return JSON.stringify(challenge)
}

/** The digest of the work when the text is a challenge of ours for this purpose with its solution. */
export async function workOf(
  world: World,
  purpose: string,
  text: string,
): Promise<string | undefined> {
  const read = payload.safeParse(parseJson(text))
  if (!read.success) return undefined
  const { parameters, signature } = read.data.challenge
  const { data } = parameters
  if (data.purpose !== purpose || data.until < world.now().getTime()) return undefined
  const { verified } = await verifySolution({
    ...read.data,
    deriveKey: derive,
    ...(await secretsOf(world)),
  })
  return verified ? sha256Hex(signature) : undefined
}

/**
 * Does what many strangers may ask for, with the work that the caller brings if any. Where work is
 * needed and none came, or the one that was used before, the refusal has a challenge.
 */
export async function withWork<T>(
  world: World,
  { purpose, solution = '' }: { purpose: string; solution?: string | undefined },
  ask: (work: string | null) => Promise<T>,
): Promise<T> {
  try {
    return await ask((await workOf(world, purpose, solution)) ?? null)
  } catch (error) {
    if (!(error instanceof Rejection) || error.refusal.refusal !== 'work_required') throw error
    const challenge = await challengeFor(world, purpose)
    throw new Rejection(fail('work_required', { details: { challenge } }))
  }
}

/** One for the challenge, one for the key that solves it; neither can stand for the pepper. */
async function secretsOf({ config }: World) {
  const pepper = required(config, 'OTP_PEPPER')
  return {
    hmacSignatureSecret: await credentialOf('proof of work: challenge', pepper),
    hmacKeySignatureSecret: await credentialOf('proof of work: key', pepper),
  }
}
