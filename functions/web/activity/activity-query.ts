/** Filters of the activity: in the addresses of pages, and as the database takes them. */
import * as z from 'zod'
import { connectedChains } from '../../../shared/chains/registry.ts'
import { activityCategory } from '../../../shared/contract/fields.ts'
import type { Config } from '../../../shared/env.ts'
import { parseDollars, usdDecimals } from '../../../shared/money/amount.ts'
import { usdMicrosOf } from '../../../shared/money/usd.ts'
import { addDays, type Reader, startOfDay } from '../ui/zone.ts'
import { type PageContext, webAppPath } from '../visit.ts'

/** States of a payment that a filter tells apart, with their titles. */
export const outcomes = {
  waiting: 'Waiting',
  on_its_way: 'On its way',
  paid: 'Paid',
  not_paid: 'Not paid',
} as const
/** Directions, with their titles. */
export const directions = { in: 'Money in', out: 'Money out' } as const

/** Returns whether a text is a day of this century or the next, such as 2026-11-23. */
export function isDay(text: string): boolean {
  if (!/^2[01]\d\d-\d\d-\d\d$/.test(text)) return false
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text)
}

const optional = <T extends z.ZodType>(field: T) => field.optional().catch(undefined)
const day = optional(z.string().refine(isDay))
const dollars = optional(z.string().regex(/^\$?\d{1,9}(\.\d{1,6})?$/))

const instant = /^[\d-]{10}T[\d:]{8}(\.\d{1,6})?(Z|[+-](0\d|1[0-4]):[0-5]\d)$/

// A malformed query is not an error, because people edit addresses: its parts are ignored.
const asked = z.object({
  q: z
    .string()
    .max(100)
    .transform((words) => words.replaceAll('\0', '').trim())
    .catch(''),
  agent: optional(z.uuid()),
  from: day,
  to: day,
  state: optional(z.enum(['waiting', 'on_its_way', 'paid', 'not_paid'])),
  min: dollars,
  max: dollars,
  direction: optional(z.enum(['in', 'out'])),
  category: optional(activityCategory),
  /** Origin of a merchant or address of a payee, to which the page of spending links. */
  payee: optional(z.string().regex(/^(https?:\/\/[\x21-\x7e]{1,300}|0x[\da-fA-F]{40})$/)),
  hidden: optional(z.literal('yes')),
  /** Time and id of the last row of the page before. */
  before: optional(
    z.string().refine((text) => {
      const [at = '', id = ''] = text.split('_')
      return instant.test(at) && /^[\da-f-]{1,36}$/.test(id) && isDay(at.slice(0, 10))
    }),
  ),
})
/** Filters and place of a page. */
export type Asked = z.output<typeof asked>

/** Reads the filters of a request. */
export function askedOf(c: PageContext): Asked {
  const query = asked.parse(c.req.query())
  return { ...query, before: Number.isNaN(Date.parse(at(query))) ? undefined : query.before }
}

/** Returns the time of the place at which a page begins. */
function at({ before }: Asked): string {
  return before?.split('_')[0] ?? ''
}

/** Returns whether a filter is set; the place of a page and the view of what is hidden are none. */
export function isNarrowed(query: Asked): boolean {
  const filters = Object.entries({ ...query, q: query.q || undefined })
  return filters.some(([name, value]) => value && name !== 'before' && name !== 'hidden')
}

/** Returns the address of a page with these filters. */
export function activityAddress(path: string, query: Partial<Asked>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) search.set(name, value)
  return `${webAppPath}${path}${search.size === 0 ? '' : `?${search.toString()}`}`
}

/** Returns where a page begins, for SQL. */
export function positionOf(query: Asked) {
  if (query.before === undefined) return {}
  return { before_at: at(query), before_id: query.before.split('_')[1] ?? '' }
}

/** Returns the filters in the form of private.activity_filter. Days are those of the reader. */
export function filterOf(query: Asked, reader: Reader, config: Config) {
  const { q, agent, from, to, state, direction, category, payee } = query
  return {
    ...(q === '' ? {} : { words: q.toLowerCase(), ...amountRange(q) }),
    ...(from === undefined ? {} : { since: startOfDay(from, reader).toISOString() }),
    ...(to === undefined ? {} : { until: startOfDay(addDays(to, 1), reader).toISOString() }),
    ...usdBounds(query, config),
    agent,
    state,
    direction,
    category,
    payee,
  }
}

/** Returns the amounts that begin with these digits: "153" means 153.00 to below 154, "1.50" below 1.51. */
function amountRange(words: string) {
  const [, whole = '', fraction = ''] =
    /^[+−$-]?\s?(\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.(\d{0,6}))?(?:\s?(?:usdc?|eurc))?$/i.exec(
      words,
    ) ?? []
  if (whole === '') return {}
  const step = 10n ** BigInt(usdDecimals - fraction.length)
  const from = BigInt(whole.replaceAll(',', '') + fraction) * step
  return { token_from: from.toString(), token_below: (from + step).toString() }
}

/** Returns the bounds in dollars, and what they are in each token for deposits. */
function usdBounds({ min, max }: Asked, config: Config) {
  const [low, high] = [min, max].map((text) => parseDollars(text ?? '', usdDecimals))
  if (low === undefined && high === undefined) return {}
  const tokens = connectedChains(config).flatMap((chain) =>
    chain.tokens.flatMap((token) => {
      const unit = 10n ** BigInt(token.decimals)
      const rate = usdMicrosOf(token, unit, config)
      if (rate === undefined) return []
      const atomic = (usdMicros: bigint | undefined) => usdMicros && (usdMicros * unit) / rate
      const bounds = { low: atomic(low)?.toString(), high: atomic(high)?.toString() }
      return [{ chain: chain.id, token: token.address, ...bounds }]
    }),
  )
  return { usd_from: low?.toString(), usd_to: high?.toString(), tokens }
}
