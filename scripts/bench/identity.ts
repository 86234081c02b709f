/** Compares get-identity with the floor: latency, and CPU per request of all processes that serve it. */
import { startFloor } from './floor.ts'
import { measureLoad } from './processes.ts'
import { type Figure, median } from './report.ts'
import type { BenchWorld } from './world.ts'

const requests = 400
const parallel = 8

/** Measures both in turn, after one round that does not count. */
export async function benchIdentity(world: BenchWorld, rounds: number): Promise<Figure[]> {
  const floor = await startFloor(world)
  try {
    const { key } = await world.agent(world.sql)
    const ours = { url: `${world.url}/get-identity`, key, requests, parallel }
    const least = { url: `${floor.url}/floor`, key, requests, parallel }
    await measureLoad(ours)
    await measureLoad(least)
    const found = []
    for (let round = 0; round < rounds; round += 1) {
      const [a, b] = [await measureLoad(ours), await measureLoad(least)]
      found.push({
        cpu: a.cpuSeconds / b.cpuSeconds,
        latency: median(a.latencies) / median(b.latencies),
        oursMicros: (a.cpuSeconds / requests) * 1e6,
        floorMicros: (b.cpuSeconds / requests) * 1e6,
      })
    }
    const detail = {
      'CPU microseconds a request': median(found.map(({ oursMicros }) => oursMicros)),
      'CPU microseconds of the floor': median(found.map(({ floorMicros }) => floorMicros)),
      'latency ratio at p50': median(found.map(({ latency }) => latency)),
    }
    const value = median(found.map(({ cpu }) => cpu))
    return [{ name: 'get-identity, CPU over Hono and one rpc', value, target: 1.35, detail }]
  } finally {
    await floor.stop()
  }
}
