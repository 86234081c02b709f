import { expect, test } from 'vitest'
import {
  clockIn,
  dayHeading,
  localTime,
  type Reader,
  startOfDay,
  timeWords,
} from '../../functions/web/ui/zone.ts'

function readerIn(timeZone: string, now: string): Reader {
  return { now: new Date(now), clock: clockIn(timeZone) }
}

test.each([
  ['2026-11-23T13:05:00Z', 'Today 14:05'],
  ['2026-11-22T23:30:00Z', 'Today 00:30'],
  ['2026-11-22T08:12:00Z', 'Yesterday 09:12'],
  ['2026-11-24T08:12:00Z', 'Tomorrow 09:12'],
  ['2026-11-12T13:05:00Z', '12 Nov, 14:05'],
  ['2025-03-03T09:00:00Z', '3 Mar 2025, 10:00'],
])('the time %s reads "%s" in Berlin', (at, words) => {
  expect(timeWords(new Date(at), readerIn('Europe/Berlin', '2026-11-23T20:00:00Z'))).toBe(words)
})

test('a time in a sentence goes on with it', () => {
  const reader = readerIn('Europe/Berlin', '2026-11-23T20:00:00Z')

  expect(timeWords(new Date('2026-11-23T13:05:00Z'), reader, true)).toBe('today at 14:05')
  expect(timeWords(new Date('2026-11-12T13:05:00Z'), reader, true)).toBe('12 Nov at 14:05')
})

test('days have headings, and other years are named', () => {
  const reader = readerIn('Asia/Tokyo', '2026-11-25T20:00:00Z')

  expect(dayHeading('2026-11-26', reader)).toBe('Today')
  expect(dayHeading('2026-11-23', reader)).toBe('Monday, 23 November')
  expect(dayHeading('2025-03-03', reader)).toBe('Monday, 3 March 2025')
})

test.each([
  ['UTC', '2026-03-08'],
  ['America/New_York', '2026-03-08'],
  ['America/New_York', '2026-11-01'],
  ['Asia/Kathmandu', '2026-01-01'],
  ['Pacific/Kiritimati', '2026-01-01'],
  ['Pacific/Niue', '2026-01-01'],
  ['Asia/Beirut', '2026-03-29'],
  ['America/Santiago', '2026-09-06'],
  ['Europe/Berlin', '2026-03-29'],
])('a day begins with its first minute in %s on %s', (zone, day) => {
  const reader = readerIn(zone, '2026-06-01T00:00:00Z')

  const start = startOfDay(day, reader)

  expect(localTime(start, reader).day).toBe(day)
  expect(localTime(new Date(start.getTime() - 60_000), reader).day < day).toBe(true)
})
