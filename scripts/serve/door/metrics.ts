/** Counts of the requests that a service answered, as Prometheus reads them. */

/** A request that was answered. Nothing else of it is kept or logged. */
export type AnsweredRequest = {
  function: string
  method: string
  status: number
  seconds: number
  request_id: string | null
}

/** Upper bounds of the classes of duration, in seconds; some calls wait for 25 by design. */
const bounds = [0.025, 0.1, 0.25, 1, 5, 30]

type Durations = { classes: number[]; count: number; sum: number }

/** The counts since the start. */
export type Metrics = {
  note(answered: AnsweredRequest): void
  /** Returns the exposition text (version 0.0.4); `failing` are parts that do not work. */
  text(failing: readonly string[]): string
}

/** Starts to count. */
export function openMetrics(): Metrics {
  const requests = new Map<string, number>()
  const durations = new Map<string, Durations>()
  return {
    note({ function: name, status, seconds }) {
      const labels = `function="${name}",status="${status}"`
      requests.set(labels, (requests.get(labels) ?? 0) + 1)
      const of = durations.get(name) ?? { classes: bounds.map(() => 0), count: 0, sum: 0 }
      of.classes = of.classes.map((count, nth) => count + Number(seconds <= (bounds[nth] ?? 0)))
      of.count += 1
      of.sum += seconds
      durations.set(name, of)
    },
    text: (failing) =>
      [
        '# TYPE aoa_requests_total counter',
        ...[...requests].map(([labels, count]) => `aoa_requests_total{${labels}} ${count}`),
        '# TYPE aoa_request_seconds histogram',
        ...[...durations].flatMap(([name, of]) => histogram(name, of)),
        '# TYPE aoa_failing gauge',
        ...failing.map((part) => `aoa_failing{part=${JSON.stringify(part)}} 1`),
        '# TYPE process_resident_memory_bytes gauge',
        `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
        '# TYPE process_cpu_seconds_total counter',
        `process_cpu_seconds_total ${cpuSeconds()}`,
        '',
      ].join('\n'),
  }
}

function histogram(name: string, { classes, count, sum }: Durations): string[] {
  const of = `function="${name}"`
  return [
    ...classes.map((n, nth) => `aoa_request_seconds_bucket{${of},le="${bounds[nth]}"} ${n}`),
    `aoa_request_seconds_bucket{${of},le="+Inf"} ${count}`,
    `aoa_request_seconds_sum{${of}} ${sum.toFixed(6)}`,
    `aoa_request_seconds_count{${of}} ${count}`,
  ]
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}
