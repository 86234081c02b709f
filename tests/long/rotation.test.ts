import { expect, test } from 'vitest'
import { changeRoot, type Pace } from '../support/rotation-race.ts'
import { seeded } from '../support/seed.ts'

const perSecond = 200
const latencies: number[] = []

/** A request every five milliseconds, however long those before it take. */
const steady: Pace = async (request, isOver) => {
  const asked: Promise<void>[] = []
  const began = performance.now()
  while (!isOver()) {
    const due = Math.floor(((performance.now() - began) * perSecond) / 1000)
    for (; asked.length < due; asked.push(timed(request)));
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await Promise.all(asked)
  const seconds = (performance.now() - began) / 1000
  console.log(`${asked.length} requests in ${seconds.toFixed(1)} s: ${told(latencies)}`)
}

async function timed(request: () => Promise<void>): Promise<void> {
  const began = performance.now()
  await request()
  latencies.push(performance.now() - began)
}

function told(milliseconds: number[]): string {
  const sorted = milliseconds.toSorted((one, other) => one - other)
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`
}

test('at 200 requests a second a root is replaced and no request fails', async () => {
  const plan = { pace: steady, between: 200, sleepers: 5_000 }

  const { requests, done, output } = await changeRoot(seeded(), plan)

  console.log(output, done)
  expect(requests).toBeGreaterThan(2_000)
})
