/**
 * Deadlines that no clock ends, so that a busy machine is never taken for a silent neighbour. A neighbour of
 * the tests that falls silent tells so, and the deadline of the request that it received passes.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Fetch, World } from '../../shared/world.ts'

/** A request as a neighbour received it, with its whole address. */
export type Unanswered = {
  method?: string
  url: string
  headers: IncomingHttpHeaders
  /** Absent if the neighbour did not read it. */
  body?: string
}

export type Deadlines = {
  deadline: World['deadline']
  /** Returns this network, with its open requests remembered. */
  watch: (fetch: Fetch) => Fetch
  /** Lets the deadline of an open request pass: now, or as soon as its answer has begun. */
  expire: (received: Unanswered, once?: 'received' | 'begun') => void
}

type Open = { sent: Parameters<Fetch>; hasPassed: boolean }

export function openDeadlines(): Deadlines {
  const controllers = new WeakMap<AbortSignal, AbortController>()
  const open = new Set<Open>()
  const pass = ({ sent: [, init] }: Open) => {
    // A request without a deadline waits on, so that its test fails.
    if (!init?.signal) return
    const controller = controllers.get(init.signal)
    // A combined signal cannot be traced back to its deadlines.
    if (!controller) throw new Error('the request has no deadline of this world')
    controller.abort(timeout())
  }
  return {
    deadline: () => {
      const controller = new AbortController()
      controllers.set(controller.signal, controller)
      return controller.signal
    },
    watch:
      (fetch) =>
      async (...sent) => {
        const request: Open = { sent, hasPassed: false }
        open.add(request)
        try {
          const response = await fetch(...sent)
          // The reader of the body has begun by then.
          if (request.hasPassed) setImmediate(() => pass(request))
          return response
        } finally {
          open.delete(request)
        }
      },
    expire(received, once = 'received') {
      const request = [...open].find(({ sent }) => isSame(sent, received))
      // A request of the test itself is not among them.
      if (!request) return
      if (once === 'begun') request.hasPassed = true
      else pass(request)
    },
  }
}

/** Returns the reason that `AbortSignal.timeout` gives. */
function timeout(): DOMException {
  return new DOMException('The operation was aborted due to timeout', 'TimeoutError')
}

/** Compares what was sent with what was received, which carries more headers. Bytes are not compared. */
function isSame([input, init]: Open['sent'], received: Unanswered): boolean {
  const { signal: _, ...rest } = init ?? {}
  const { method, url, headers } = new Request(input, rest)
  if (url !== received.url || method !== (received.method ?? 'GET')) return false
  const isOther = typeof init?.body === 'string' && ![undefined, init.body].includes(received.body)
  return !isOther && [...headers].every(([name, value]) => received.headers[name] === value)
}

/** A clock that stands still until the test or a silent neighbour moves it, and the deadlines on it. */
export type Timeline = {
  deadline: World['deadline']
  passedMilliseconds: () => number
  /** Lets time pass until then, with the deadlines on the way. */
  moveTo: (atMilliseconds: number) => void
  /** Lets time pass without an answer until the deadline of a request has passed. */
  waitFor: (signal: AbortSignal) => Promise<never>
}

export function openTimeline(): Timeline {
  const due = new Map<AbortController, number>()
  let passed = 0
  const moveTo = (atMilliseconds: number) => {
    passed = Math.max(passed, atMilliseconds)
    for (const [controller, at] of due) {
      if (at > passed) continue
      due.delete(controller)
      controller.abort(timeout())
    }
  }
  return {
    passedMilliseconds: () => passed,
    moveTo,
    deadline: (milliseconds) => {
      const controller = new AbortController()
      due.set(controller, passed + milliseconds)
      return controller.signal
    },
    waitFor: (signal) => {
      while (!signal.aborted && due.size > 0) moveTo(Math.min(...due.values()))
      return signal.aborted ? Promise.reject(signal.reason) : new Promise(() => {})
    },
  }
}
