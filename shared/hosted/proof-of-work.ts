/**
 * About a second of a browser's work, so that confirming by the thousand is dear. Each challenge is
 * signed for one action and solves no other. It shows that somebody took the trouble, not who.
 */
import type { DeriveKeyFunction } from 'altcha-lib'
import { createChallenge, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2'
import * as z from 'zod'
import { credentialOf } from '../auth/api-key.ts'
import { parseJson } from '../base64.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'

/** Iterations of one try; a browser makes some three hundred tries in a second. */
const cost = 5_000
const triesMin = 200
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
      data: z.strictObject({ action: z.string() }),
    }),
    signature: z.string(),
  }),
  solution: z.object({ counter: z.int(), derivedKey: z.string() }),
})

/** A challenge for this action, as the page hands it to its script. */
export async function challengeFor(world: World, action: string): Promise<string> {
  const [extra = 0] = world.randomBytes(1)
  const challenge = await createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost,
    counter: triesMin + extra,
    data: { action },
    deriveKey: derive,
    ...(await secretsOf(world)),
  })
  return JSON.stringify(challenge)
}

/** Whether the text is a challenge of ours for this action with its solution. */
export async function isSolved(world: World, action: string, text: string): Promise<boolean> {
  const read = payload.safeParse(parseJson(text))
  if (!read.success || read.data.challenge.parameters.data.action !== action) return false
  const { verified } = await verifySolution({
    ...read.data,
    deriveKey: derive,
    ...(await secretsOf(world)),
  })
  return verified
}

/** One for the challenge, one for the key that solves it; neither can stand for the pepper. */
async function secretsOf({ config }: World) {
  const pepper = required(config, 'API_KEY_PEPPER')
  return {
    hmacSignatureSecret: await credentialOf('proof of work: challenge', pepper),
    hmacKeySignatureSecret: await credentialOf('proof of work: key', pepper),
  }
}
