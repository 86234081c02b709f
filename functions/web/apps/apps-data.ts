/** Connected apps: their access, and the choices that the owner has for a new one. */
import * as z from 'zod'
import { bigintText, time } from '../../../shared/money/row-fields.ts'
import type { AuthorizationRequest } from '../../../shared/oauth/authorization-request.ts'
import { isLoopback } from '../../../shared/oauth/redirect-uri.ts'
import { capsRow } from '../../../shared/payments/payment-with-facts.ts'
import type { Caps } from '../keys/caps.tsx'
import type { Owner } from '../visit.ts'

const appRow = z.object({
  app: z.uuid(),
  /** Name that it gave itself when it was let in. */
  name: z.string(),
  /** Its own host, if that was checked. */
  host: z.string().nullable(),
  /** Host that its answer was sent to. */
  redirect_host: z.string(),
  scopes: z.array(z.string()),
  caps: capsRow,
  live: z.boolean(),
  /** Null if the app is still connected or its access expired. */
  ended_because: z.enum(['disconnected', 'replaced', 'reused', 'revoked by the app']).nullable(),
  created_at: time,
  expires_at: time,
  last_used_on: z.string().nullable(),
  /** Spent and reserved in 24 hours; null for an app that pays nothing. */
  spent_usd_micros: bigintText.nullable(),
})
/** Connected app, or one whose access has ended. */
export type AppRow = z.output<typeof appRow>

/** Number of apps that a page lists; ended ones drop off the end of the list. */
const listedMax = 50

/** Lists the apps of the account. */
export function listApps({ db }: Owner): Promise<AppRow[]> {
  return db.many('owner_list_apps', { listed_max: listedMax }, appRow)
}

const namesakeRow = z.object({
  app: z.uuid(),
  since: time,
  /** Its own host, if that was checked. */
  host: z.string().nullable(),
  redirect_host: z.string(),
})
/** Connected app that has the name of the one that asks; nothing shows that it is the same program. */
export type Namesake = z.output<typeof namesakeRow>

const metRow = z
  .object({
    automatic_daily_limit_usd_micros: bigintText,
    namesakes: z.array(namesakeRow),
  })
  .transform(({ automatic_daily_limit_usd_micros: limit, ...row }) => {
    // A cap of zero would also stop payments that the owner approves, so then no cap is proposed.
    const cap = limit > 0n ? limit : null
    return { ...row, caps: { each: cap, day: cap } satisfies Caps }
  })

/** Place that an app's answers go to; one with a device code has no address. */
type Answered = Pick<AuthorizationRequest, 'redirectUri' | 'redirectHost'> & {
  client: Pick<AuthorizationRequest['client'], 'name' | 'host'>
}
type AppName = Pick<AuthorizationRequest['client'], 'id' | 'name'>

/** Reads the facts that the owner needs before letting an app in, with the caps to propose. */
export async function meetApp(
  { db }: Owner,
  { client, redirectHost }: Pick<AuthorizationRequest, 'redirectHost'> & { client: AppName },
) {
  const question = { client_id: client.id, name: client.name, redirect_host: redirectHost }
  const met = await db.one('owner_meet_app', question, metRow)
  if (!met) throw new Error('an account has no limits')
  return met
}

/**
 * Returns the connected app of the same name whose answers go to the same place, the latest if there are several. It
 * may be the same program, which registers anew each time it connects: only its owner can tell. What is on this
 * device is one place. An app whose host was checked is another one than any without that host.
 */
export function connectedBefore(
  { client, redirectUri, redirectHost }: Answered,
  namesakes: readonly Namesake[],
): Namesake | undefined {
  return namesakes.find(
    ({ host, redirect_host: back }) =>
      host === (client.host ?? null) &&
      (back === redirectHost || (isLoopback(redirectUri) && isLoopback(`http://${back}`))),
  )
}

/** Days that the owner can choose for the access of an app. */
const lifeDays = ['7', '30', '90', '180'] as const
/** Days that are chosen at first. */
export const lifeDaysDefault = '90'
/** Choices of a form for the days. */
export const lifeChoices = lifeDays.map((value) => ({ value, label: `${value} days` }))

/** Reads the days from a form; the default for anything that is not offered. */
export function lifeOf(given: string | null): number {
  return Number(lifeDays.find((days) => days === given) ?? lifeDaysDefault)
}
