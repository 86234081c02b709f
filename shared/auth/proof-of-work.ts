/**
 * Proof of work: about a second of a browser's time, so that doing something by the thousand is expensive.
 * Each challenge is signed for one purpose and solves no other. A solution shows effort, not identity.
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

/** Iterations of one try; a browser makes about three hundred tries in a second. */
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

/** Makes a challenge for this purpose as JSON for a page's script; valid for ten minutes. */
export async function newWorkChallenge(world: World, purpose: string): Promise<string> {
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

/** Returns the digest of the work if the text is our challenge for this purpose with its solution. */
export async function verifyWork(
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
 * Runs `ask`, which strangers may call often, with the caller's solved work or null. If the database
 * requires work, because none came or it was used before, the thrown Rejection carries a new challenge.
 */
export async function withWork<T>(
  world: World,
  { purpose, solution = '' }: { purpose: string; solution?: string | undefined },
  ask: (work: string | null) => Promise<T>,
): Promise<T> {
  try {
    return await ask((await verifyWork(world, purpose, solution)) ?? null)
  } catch (error) {
    if (!(error instanceof Rejection) || error.refusal.refusal !== 'work_required') throw error
    const challenge = await newWorkChallenge(world, purpose)
    throw new Rejection(fail('work_required', { details: { challenge } }))
  }
}

/** Derives a secret for the challenge and one for the key that solves it; neither equals the pepper. */
async function secretsOf({ config }: World) {
  const pepper = required(config, 'OTP_PEPPER')
  return {
    hmacSignatureSecret: await credentialOf('proof of work: challenge', pepper),
    hmacKeySignatureSecret: await credentialOf('proof of work: key', pepper),
  }
}
