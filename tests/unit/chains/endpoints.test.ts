import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  afterFailure,
  byPreference,
  type EndpointHealth,
  type Health,
} from '../../../shared/chains/evm/rpc/endpoints.ts'

const minuteMilliseconds = 60_000
const now = fc.integer({ min: 0, max: 2 ** 40 })
const asked = fc.option(fc.integer({ min: 0, max: 2 ** 40 }), { nil: undefined })
const record: fc.Arbitrary<Health> = fc.record({
  outages: fc.integer({ min: 0, max: 2_000 }),
  restsUntilMilliseconds: fc.integer({ min: 0, max: 2 ** 40 }),
})
const urls = fc.uniqueArray(fc.webUrl(), { minLength: 1, maxLength: 6 })
const health = fc
  .tuple(urls, fc.array(fc.option(record), { minLength: 6, maxLength: 6 }))
  .map(([all, records]): [string[], EndpointHealth] => [
    all,
    new Map(all.flatMap((url, at) => (records[at] ? [[url, records[at]]] : []))),
  ])

test('every endpoint is asked in the end, whatever their records', () => {
  fc.assert(
    fc.property(health, now, ([all, records], at) => {
      expect(byPreference(all, records, at).toSorted()).toEqual(all.toSorted())
    }),
  )
})

test('the healthy come first as configured, then those that return first', () => {
  fc.assert(
    fc.property(health, now, ([all, records], at) => {
      const until = (url: string) => records.get(url)?.restsUntilMilliseconds ?? 0
      const healthy = all.filter((url) => until(url) <= at)

      const order = byPreference(all, records, at)

      expect(order.slice(0, healthy.length)).toEqual(healthy)
      const returns = order.slice(healthy.length).map(until)
      expect(returns).toEqual(returns.toSorted((a, b) => a - b))
    }),
  )
})

test('a rest is a second at least and a minute at most, whatever the endpoint asks for', () => {
  fc.assert(
    fc.property(fc.option(record, { nil: undefined }), now, asked, (before, at, wanted) => {
      const isResting = before !== undefined && before.restsUntilMilliseconds > at
      fc.pre(!isResting)

      const rest = afterFailure(before, at, wanted).restsUntilMilliseconds - at

      expect(rest).toBeGreaterThanOrEqual(
        Math.max(1_000, Math.min(wanted ?? 0, minuteMilliseconds)),
      )
      expect(rest).toBeLessThanOrEqual(minuteMilliseconds)
    }),
  )
})

test('failures during a rest are the same outage and end it no sooner', () => {
  fc.assert(
    fc.property(record, now, asked, (before, at, wanted) => {
      fc.pre(before.restsUntilMilliseconds > at)
      const after = afterFailure(before, at, wanted)
      const longest = Math.max(before.restsUntilMilliseconds, at + minuteMilliseconds)

      expect(after.outages).toBe(before.outages)
      expect(after.restsUntilMilliseconds).toBeGreaterThanOrEqual(before.restsUntilMilliseconds)
      expect(after.restsUntilMilliseconds).toBeLessThanOrEqual(longest)
    }),
  )
})

test('an endpoint that fails whenever it returns rests twice as long each time', () => {
  const rests: number[] = []
  let last: Health | undefined
  for (let at = 0; rests.length < 8; at = last.restsUntilMilliseconds) {
    last = afterFailure(last, at)
    rests.push((last.restsUntilMilliseconds - at) / 1_000)
  }

  expect(rests).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
})
