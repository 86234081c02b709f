/** API keys as the owner sees and makes them. */
import * as z from 'zod'
import { createApiKey, credentialOf, shownPart } from '../../../shared/auth/api-key.ts'
import { time } from '../../../shared/db/row-fields.ts'
import { required } from '../../../shared/env.ts'
import { capsRow } from '../../../shared/payments/entered.ts'
import type { World } from '../../../shared/world.ts'

export const keyRow = z.object({
  key: z.uuid(),
  label: z.string(),
  shown: z.string(),
  scopes: z.array(z.string()),
  live: z.boolean(),
  created_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  last_used_on: z.string().nullable(),
  /** Whether it may read secrets of the vault, not only have them used. */
  reads_secrets: z.boolean(),
  caps: capsRow,
})
export type KeyRow = z.output<typeof keyRow>

/** Keys of an account that a page lists; those that are over fall off the end. */
export const listedMax = 50

export const keysFull = 'The account has 20 keys in service, which is the most. Revoke one first.'

/** Days for which a key can be good. */
const lifeDays = ['7', '30', '90', '365'] as const
export const lifeDaysDefault = '90'
export const lifeChoices = lifeDays.map((value) => ({ value, label: `${value} days` }))

export function lifeOf(given: string | null): number {
  return Number(lifeDays.find((days) => days === given) ?? lifeDaysDefault)
}

/** A new key, and what the database may know of it. */
export async function makeKey(world: World) {
  const { config } = world
  const kind = config.ENVIRONMENT === 'production' ? 'live' : 'test'
  const key = createApiKey(kind, (length) => world.randomBytes(length))
  const digest = await credentialOf(key, required(config, 'API_KEY_PEPPER'))
  return { key, known: { digest, shown: shownPart(key) } }
}
