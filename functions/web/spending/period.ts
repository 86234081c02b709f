/** The period of the page of spending, in days of the reader. */
import * as z from 'zod'
import { isDay } from '../activity/activity-query.ts'
import { addDays, localTime, months, type Reader, shortDay, startOfDay } from '../ui/zone.ts'

/** Periods to choose, with their titles. */
export const periods = {
  this_month: 'This month',
  last_month: 'Last month',
  '90_days': 'Last 90 days',
  '12_months': 'Last 12 months',
} as const
type PeriodName = keyof typeof periods

/** First and last day; `name` is undefined for days that the reader chose. */
export type Period = { name: PeriodName | undefined; from: string; to: string }

const daysMax = 5 * 366
const day = z.string().refine(isDay).optional().catch(undefined)
const asked = z.object({
  period: z.enum(['this_month', 'last_month', '90_days', '12_months']).catch('this_month'),
  from: day,
  to: day,
})

/** Reads the period of a request. What means nothing is ignored, and at most five years are summed. */
export function periodOf(query: Record<string, string>, reader: Reader): Period {
  const { period: name, from, to } = asked.parse(query)
  const today = localTime(reader.now, reader).day
  if (from === undefined && to === undefined) return { name, ...daysOf(name, today) }
  const last = to ?? today
  const first = from ?? monthStart(last, 0)
  const [start, end] = first <= last ? [first, last] : [last, first]
  const earliest = addDays(end, 1 - daysMax)
  return { name: undefined, from: start < earliest ? earliest : start, to: end }
}

function daysOf(name: PeriodName, today: string) {
  switch (name) {
    case 'this_month':
      return { from: monthStart(today, 0), to: today }
    case 'last_month':
      return { from: monthStart(today, -1), to: addDays(monthStart(today, 0), -1) }
    case '90_days':
      return { from: addDays(today, -89), to: today }
    case '12_months':
      return { from: monthStart(today, -11), to: today }
  }
}

/** Returns the first day of the month that lies this many months after that of a day. */
function monthStart(day: string, count: number): string {
  const [year, month] = day.split('-').map(Number)
  return new Date(Date.UTC(year ?? 0, (month ?? 1) - 1 + count, 1)).toISOString().slice(0, 10)
}

/** Returns all days of the period. */
export function daysIn({ from, to }: Period): string[] {
  const days: string[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day)
  return days
}

/** Returns when each day begins, and last when the period ends. */
export function boundsOf(days: readonly string[], reader: Reader): string[] {
  const end = addDays(days.at(-1) ?? '', 1)
  return [...days, end].map((day) => startOfDay(day, reader).toISOString())
}

/** Parts of the time that sums are made for. */
export const spans = {
  day: (day: string) => day,
  /** Weeks begin on Monday. */
  week: (day: string) => addDays(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7)),
  month: (day: string) => `${day.slice(0, 7)}-01`,
} as const
/** Name of such a part. */
export type Span = keyof typeof spans

/** Returns the part that is drawn: the smallest of which a screen shows all. */
export function spanOf(days: readonly string[]): Span {
  if (days.length <= 45) return 'day'
  return days.length <= 200 ? 'week' : 'month'
}

/** Returns the name of a part: of a week its first day. */
export function spanLabel(span: Span, start: string, reader: Reader): string {
  if (span !== 'month') return shortDay(start, reader)
  const [year = '', month = ''] = start.split('-')
  const name = months[Number(month) - 1] ?? ''
  return year === localTime(reader.now, reader).day.slice(0, 4) ? name : `${name} ${year}`
}
