/** State of an account that a walk compares before and after each step. */
import * as z from 'zod'
import type { TestWorld } from '../world.ts'

const row = z.object({
  now: z.coerce.number(),
  limits: z.record(z.string(), z.coerce.bigint()),
  frozen: z.boolean(),
  shows_codes: z.boolean(),
  keys: z.array(z.string()),
  recipients: z.array(z.string()),
  passkeys: z.array(z.string()),
  codes: z.array(z.string()),
  sessions: z.array(z.string()),
  password_hash: z.string(),
  hold_until: z.coerce.number().nullable(),
  pending_password_hash: z.string().nullable(),
  pending_passkey_removal: z.boolean(),
})
/** Limits in micro-USD, ids of what lets somebody in or pay, and times in seconds. */
export type Standing = z.output<typeof row>

/** Reads the state of an account. */
export async function standingOf({ db }: TestWorld, account: string): Promise<Standing> {
  const [found] = await db.sql`
    select extract(epoch from private.clock()) as now,
      jsonb_build_object('automatic', a.automatic_daily_limit_usd_micros,
        'asserted', a.asserted_daily_limit_usd_micros, 'cap', a.daily_spending_cap_usd_micros) as limits,
      a.frozen_at is not null as frozen, a.shows_codes, o.password_hash,
      extract(epoch from o.hold_until) as hold_until, o.pending_password_hash, o.pending_passkey_removal,
      array(select k.id::text from private.credentials k where k.account = a.id and k.kind = 'api_key'
        and k.revoked_at is null order by 1) as keys,
      array(select r.address from private.known_recipients r where r.account = a.id order by 1) as recipients,
      array(select p.id from private.passkeys p where p.account = a.id order by 1) as passkeys,
      array(select r.digest from private.recovery_codes r where r.account = a.id and r.used_at is null
        order by 1) as codes,
      array(select k.digest from private.credentials k where k.account = a.id and k.kind = 'session'
        and k.revoked_at is null order by 1) as sessions
    from private.accounts a join private.owners o on o.account = a.id where a.id = ${account}`
  return row.parse(found)
}

const lists = ['keys', 'recipients', 'passkeys', 'codes', 'sessions'] as const

/** Returns what lets more through or lets somebody else in than before, in words. Sessions are not among it. */
export function widenedIn(before: Standing, after: Standing): string[] {
  const limits = Object.entries(after.limits)
    .filter(([name, micros]) => micros > (before.limits[name] ?? 0n))
    .map(([name]) => `limit ${name}`)
  const added = lists
    .filter((list) => list !== 'sessions')
    .filter((list) => after[list].some((one) => !before[list].includes(one)))
  return [
    ...limits,
    ...added,
    ...(before.frozen && !after.frozen ? ['unfrozen'] : []),
    ...(!before.shows_codes && after.shows_codes ? ['codes shown'] : []),
    ...(before.password_hash === after.password_hash ? [] : ['password']),
  ]
}

/** Returns the kinds of which something ended. */
export function endedIn(before: Standing, after: Standing): string[] {
  return lists.filter((list) => before[list].some((one) => !after[list].includes(one)))
}
