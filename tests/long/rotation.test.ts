import { expect, test } from 'vitest'
import { openLoop } from '../../scripts/bench/open-loop.ts'
import { changeRoot, type Pace } from '../support/rotation-race.ts'
import { seeded } from '../support/seed.ts'

const perSecond = 200

const steady: Pace = async (request, isOver) => {
  const latencies = await openLoop(perSecond, request, isOver)
  const sorted = latencies.toSorted((one, other) => one - other)
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  console.log(`${sorted.length} requests: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`)
}

test('at 200 requests a second a root is replaced and no request fails', async () => {
  const plan = { pace: steady, between: 200, sleepers: 3_000 }

  const { requests, done, output } = await changeRoot(seeded(), plan)

  console.log(output, done)
  expect(requests).toBeGreaterThan(2_000)
})
