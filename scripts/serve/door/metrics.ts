/** Counts of the requests that a service answered, as Prometheus reads them. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** A request that was answered. Nothing else of it is kept or logged. */
export type AnsweredRequest = {
  function: string
  method: string
  status: number
  seconds: number
  request_id: string | null
}

/** Upper bounds of the classes of duration, in seconds; some calls wait for 25 by design. */
const buckets = [0.025, 0.1, 0.25, 1, 5, 30]

/** The counts since the start. */
export type Metrics = {
  note(answered: AnsweredRequest): void
  contentType: string
  /** Returns the exposition text; `failing` are parts that do not work. */
  text(failing: readonly string[]): Promise<string>
}

/** Starts to count. */
export function openMetrics(): Metrics {
  const register = new Registry()
  const registers = [register]
  collectDefaultMetrics({ register })
  const requests = new Counter({
    name: 'aoa_requests_total',
    help: 'Requests that a function answered',
    labelNames: ['function', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'aoa_request_seconds',
    help: 'Seconds until the answer',
    labelNames: ['function'],
    buckets,
    registers,
  })
  const parts = new Gauge({
    name: 'aoa_failing',
    help: 'Parts of the service that do not work',
    labelNames: ['part'],
    registers,
  })
  return {
    note({ function: name, status, seconds }) {
      requests.inc({ function: name, status })
      durations.observe({ function: name }, seconds)
    },
    contentType: register.contentType,
    text(failing) {
      parts.reset()
      for (const part of failing) parts.set({ part }, 1)
      return register.metrics()
    },
  }
}
