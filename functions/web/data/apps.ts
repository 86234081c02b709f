/** Connected apps: what each holds, and what the owner can let one do. */
import * as z from 'zod'
import { bigintText, time } from '../../../shared/db/row-fields.ts'
import { parseAmount, usdDecimals } from '../../../shared/money/amount.ts'
import type { AuthorizationRequest } from '../../../shared/oauth/authorization-request.ts'
import type { GrantScope } from '../../../shared/oauth/issuer.ts'
import type { Owner } from '../visit.ts'

const appRow = z
  .object({
    app: z.uuid(),
    /** What it called itself when it was let in. */
    name: z.string(),
    /** Its own host, where that was checked. */
    host: z.string().nullable(),
    /** Where its answer went. */
    redirect_host: z.string(),
    scopes: z.array(z.string()),
    max_per_payment_usd_micros: bigintText.nullable(),
    max_per_day_usd_micros: bigintText.nullable(),
    live: z.boolean(),
    created_at: time,
    expires_at: time,
    last_used_on: z.string().nullable(),
  })
  .transform(({ max_per_payment_usd_micros: each, max_per_day_usd_micros: day, ...row }) => {
    return { ...row, caps: { each, day } satisfies Caps }
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

/** How much an app may do. */
export type Level = { name: string; scopes: readonly GrantScope[]; label: string; hint: string }

const secretsHint = 'Signs in at sites with logins of the vault, without seeing them.'
const secrets: Level = {
  name: 'vault',
  scopes: ['vault'],
  label: 'Use stored secrets',
  hint: secretsHint,
}
const look: Level = {
  name: 'read',
  scopes: ['read'],
  label: 'Look only',
  hint: 'Balances, activity, limits and mails of the account.',
}
const lookAndSecrets: Level = {
  name: 'read_vault',
  scopes: ['read', 'vault'],
  label: 'Look and use stored secrets',
  hint: secretsHint,
}
const pay: Level = {
  name: 'pay',
  scopes: ['pay'],
  label: 'Look, use stored secrets and pay',
  hint: 'Pays and writes mails in your name, within your limits and the caps below.',
}
const full: Level = {
  name: 'full',
  scopes: ['full'],
  label: 'Everything an agent may do',
  hint: 'All operations, those that come later too. Never what only you may do.',
}

/** What scopes amount to; a wider one stands for the narrower ones with it. */
export function levelOf(scopes: readonly string[]): Level {
  const has = (scope: string) => scopes.includes(scope)
  if (has('full')) return full
  if (has('pay')) return pay
  if (!has('vault')) return look
  return has('read') ? lookAndSecrets : secrets
}

/** What the owner can choose from: less than was asked for, and last the whole of it. */
export function levelsWithin(asked: readonly string[]): readonly Level[] {
  const widest = levelOf(asked)
  const ladder = [look, lookAndSecrets, pay, full]
  return widest === secrets ? [secrets] : ladder.slice(0, ladder.indexOf(widest) + 1)
}

export const canPay = (level: Level) => level === pay || level === full
/** Whether the owner has to prove itself before it allows that. */
export const needsProof = (level: Level) => level !== look

/** In micro-dollars; null is no cap but those of the account. */
export type Caps = { each: bigint | null; day: bigint | null }

/** The bound that SQL holds too. */
const usdMicrosMax = 1_000_000_000_000n
export const capProblem = 'A cap is an amount from 0 to 1000000, such as 250 or 12.50, in USD.'

/** The caps that a form asks for; undefined where one is no amount. */
export function capsIn(form: URLSearchParams): { each: bigint; day: bigint } | undefined {
  const caps = optionalCapsIn(form)
  if (!caps || caps.each === null || caps.day === null) return undefined
  return { each: caps.each, day: caps.day }
}

/** The same where an empty field is no cap. */
export function optionalCapsIn(form: URLSearchParams): Caps | undefined {
  const [each, day] = ['each', 'day'].map((name) => {
    const text = (form.get(name) ?? '').trim()
    if (text === '') return null
    const micros = parseAmount(text, usdDecimals)
    return micros !== undefined && micros <= usdMicrosMax ? micros : undefined
  })
  return each === undefined || day === undefined ? undefined : { each, day }
}

/** Days for which an app can be let in. */
const lifeDays = ['7', '30', '90', '180'] as const
export const lifeDaysDefault = '90'
export const lifeChoices = lifeDays.map((value) => ({ value, label: `${value} days` }))

export function lifeOf(given: string | null): number {
  return Number(lifeDays.find((days) => days === given) ?? lifeDaysDefault)
}
