/** Connected apps: what each holds, and what the owner can let one do. */
import * as z from 'zod'
import { bigintText, time } from '../../../shared/db/row-fields.ts'
import type { AuthorizationRequest } from '../../../shared/oauth/authorization-request.ts'
import { capsRow } from '../../../shared/payments/entered.ts'
import type { Owner } from '../visit.ts'
import type { Caps } from './caps.ts'

const appRow = z.object({
  app: z.uuid(),
  /** What it called itself when it was let in. */
  name: z.string(),
  /** Its own host, where that was checked. */
  host: z.string().nullable(),
  /** Where its answer went. */
  redirect_host: z.string(),
  scopes: z.array(z.string()),
  caps: capsRow,
  live: z.boolean(),
  /** Null of one that is connected, and of one whose time was over. */
  ended_because: z.enum(['disconnected', 'replaced', 'reused', 'revoked by the app']).nullable(),
  created_at: time,
  expires_at: time,
  last_used_on: z.string().nullable(),
})
export type AppRow = z.output<typeof appRow>

/** Apps of an account that a page lists; those that are over fall off the end. */
const listedMax = 50

export function listApps({ db }: Owner): Promise<AppRow[]> {
  return db.many('owner_list_apps', { listed_max: listedMax }, appRow)
}

const metRow = z
  .object({
    guarded_until: time.nullable(),
    automatic_daily_limit_usd_micros: bigintText,
    namesakes: z.array(z.string()),
  })
  .transform(({ automatic_daily_limit_usd_micros: limit, ...row }) => {
    // Caps of nothing would stop what the owner approves as well: then there is no good beginning.
    const cap = limit > 0n ? limit : null
    return { ...row, caps: { each: cap, day: cap } satisfies Caps }
  })

/** What the owner has to know of its account before it lets an app in, and the caps to begin with. */
export async function meetApp({ db }: Owner, { client, redirectHost }: AuthorizationRequest) {
  const question = { client_id: client.id, name: client.name, redirect_host: redirectHost }
  const met = await db.one('owner_meet_app', question, metRow)
  if (!met) throw new Error('an account has no limits')
  return met
}

/** Days for which an app can be let in. */
const lifeDays = ['7', '30', '90', '180'] as const
export const lifeDaysDefault = '90'
export const lifeChoices = lifeDays.map((value) => ({ value, label: `${value} days` }))

export function lifeOf(given: string | null): number {
  return Number(lifeDays.find((days) => days === given) ?? lifeDaysDefault)
}
