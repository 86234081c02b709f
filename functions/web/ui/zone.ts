/** Times as the reader's clock shows them, in the zone that their browser names (client/zone.ts). */
import { getCookie } from 'hono/cookie'
import { createContext } from 'hono/jsx'
import type { PageContext } from '../visit.ts'

/** Clock of whoever reads the page. */
export type Reader = {
  now: Date
  /** Renders a time in the zone of the reader; undefined if the zone is not known, which then is UTC. */
  clock: Intl.DateTimeFormat | undefined
}

/** Gives each `Time` of a page its reader. */
export const ReaderContext = createContext<Reader>({ now: new Date(0), clock: undefined })

/** Returns the clock of whoever asks for a page. */
export function readerOf(c: PageContext): Reader {
  return { now: c.get('world').now(), clock: clockIn(getCookie(c, 'aoa_zone') ?? '') }
}

/** Returns the clock of an IANA zone; undefined if it does not exist. */
export function clockIn(timeZone: string): Intl.DateTimeFormat | undefined {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,63}$/.test(timeZone)) return undefined
  try {
    return new Intl.DateTimeFormat('en-GB', { ...digits, timeZone })
  } catch {
    return undefined
  }
}

const digits = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
} as const

/** Returns the day, such as 2026-11-23, and the time of day, such as 14:05, that the reader's clock shows. */
export function localTime(at: Date, { clock }: Pick<Reader, 'clock'>) {
  const iso = at.toISOString()
  if (clock === undefined) return { day: iso.slice(0, 10), time: iso.slice(11, 16) }
  const parts = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, value]))
  const { year = '', month, day, hour, minute } = parts
  return { day: `${year.padStart(4, '0')}-${month}-${day}`, time: `${hour}:${minute}` }
}

/** Returns the first instant of a day of the reader. Where the clock skips midnight, that is later than 0:00. */
export function startOfDay(day: string, reader: Pick<Reader, 'clock'>): Date {
  const midnight = new Date(`${day}T00:00:00Z`)
  const before = shifted(midnight, -offsetAt(midnight, reader))
  const start = shifted(midnight, -offsetAt(before, reader))
  if (localTime(start, reader).day < day) return shifted(midnight, -offsetAt(start, reader))
  return start
}

/** Returns by how many milliseconds the clock is ahead of UTC, to the minute. */
function offsetAt(at: Date, reader: Pick<Reader, 'clock'>): number {
  const { day, time } = localTime(at, reader)
  return Date.parse(`${day}T${time}:00Z`) - Math.floor(at.getTime() / 60_000) * 60_000
}

function shifted(at: Date, milliseconds: number): Date {
  return new Date(at.getTime() + milliseconds)
}

/** Returns the day that lies this many days after another one. */
export function addDays(day: string, count: number): string {
  return shifted(new Date(`${day}T00:00:00Z`), count * 86_400_000)
    .toISOString()
    .slice(0, 10)
}

/** Names of the months, January first. */
export const months =
  'January February March April May June July August September October November December'.split(' ')
const weekdays = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

/** Returns a time in words, "Today 14:05" or "3 Mar 2025, 10:00"; in a sentence "today at 14:05". */
export function timeWords(at: Date, reader: Reader, isInSentence = false): string {
  const { day, time } = localTime(at, reader)
  if (reader.clock === undefined) return `${day} ${time} UTC`
  const near = nearDay(day, reader)
  if (isInSentence) return `${near?.toLowerCase() ?? shortDay(day, reader)} at ${time}`
  return near === undefined ? `${shortDay(day, reader)}, ${time}` : `${near} ${time}`
}

/** Returns a day as a heading, "Today" or "Monday, 23 November". */
export function dayHeading(day: string, reader: Reader): string {
  const weekday = weekdays[new Date(`${day}T00:00:00Z`).getUTCDay()]
  return nearDay(day, reader) ?? `${weekday}, ${dayWords(day, reader, (month) => month)}`
}

/** Returns a day in short, "23 Nov", with its year unless that is this one. */
export function shortDay(day: string, reader: Reader): string {
  return dayWords(day, reader, (month) => month.slice(0, 3))
}

function dayWords(day: string, reader: Reader, nameOf: (month: string) => string): string {
  const [year, month, date] = day.split('-').map(Number)
  const words = `${date} ${nameOf(months[(month ?? 1) - 1] ?? '')}`
  return String(year) === localTime(reader.now, reader).day.slice(0, 4) ? words : `${words} ${year}`
}

function nearDay(day: string, reader: Reader): string | undefined {
  const today = localTime(reader.now, reader).day
  if (day === today) return 'Today'
  if (day === addDays(today, -1)) return 'Yesterday'
  return day === addDays(today, 1) ? 'Tomorrow' : undefined
}
