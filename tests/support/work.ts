/** Solves proof-of-work challenges as a browser does, and fills up buckets that all callers share. */
import { solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/web/pbkdf2'
import * as z from 'zod'
import type { TestWorld } from './world.ts'

export const challengeSchema = z.object({
  parameters: z.object({
    algorithm: z.string(),
    nonce: z.string(),
    salt: z.string(),
    cost: z.number(),
    keyLength: z.number(),
    keyPrefix: z.string(),
    keySignature: z.string(),
    data: z.object({ purpose: z.string(), until: z.number() }),
  }),
  signature: z.string(),
})
export type Challenge = z.output<typeof challengeSchema>

export async function solved(challenge: Challenge): Promise<string> {
  const solution = await solveChallenge({ challenge, deriveKey })
  return JSON.stringify({ challenge, solution })
}

/** Returns the challenge that a page passes to its script. */
export function challengeOf(html: string): Challenge {
  const [, text = ''] = /data-challenge="([^"]+)"/.exec(html) ?? []
  return challengeSchema.parse(JSON.parse(text.replaceAll('&quot;', '"')))
}

/** Takes this many seconds from a bucket at once, as strangers of very many networks would. */
export async function crowd(world: TestWorld, bucket: string, seconds: number): Promise<void> {
  await world.db.sql`
    insert into private.rate_buckets
    values (${bucket}, private.clock() + make_interval(secs => ${seconds}))
    on conflict (bucket) do update set arrives_at = excluded.arrives_at`
}
