/**
 * Makes one worker of several functions. Requests go to the function with the longest prefix of their path, as
 * the platform's routes decide between workers. Each function is given the bindings that it has alone; a binding to
 * a function of the same worker is a call within it.
 */
import { WorkerEntrypoint, waitUntil } from 'cloudflare:workers'

type Bindings = Record<string, unknown>
type Execution = { waitUntil(work: Promise<void>): void }
type Answer = Response | Promise<Response>

/** Exports of a function: handlers, or a class whose methods other functions call. */
type Handlers = {
  fetch(request: Request, bindings: Bindings, execution: Execution): Answer
  scheduled?(event: unknown, bindings: Bindings, execution: Execution): Promise<void>
  email?(mail: unknown, bindings: Bindings, execution: Execution): Promise<void>
}
type Entrypoint = new (
  execution: Execution,
  bindings: Bindings,
) => WorkerEntrypoint<Bindings> & { fetch(request: Request): Answer }

/** A function within a worker. */
export type Part = {
  made: Handlers | Entrypoint
  folder: string
  prefixes: readonly string[]
  /** Names of the worker's bindings that it is given. */
  given: readonly string[]
  /** Folders of functions of the same worker, by the names of the bindings that lead to them. */
  calls: Readonly<Record<string, string>>
}
type HandlersPart = Part & { made: Handlers }
type EntrypointPart = Part & { made: Entrypoint }

/** Stands for the class of a worker that has none, whose methods nobody calls. */
class NoMethods extends WorkerEntrypoint<Bindings> {
  override fetch(_request: Request): Answer {
    return new Response(null, { status: 404 })
  }
}

/** Returns the worker. It has the methods of the class among its functions, of which there is one at most. */
export function joinFunctions(parts: readonly Part[]): object {
  const [main, second] = parts.filter(isEntrypoint)
  if (second) throw new Error('a worker can have the methods of one function only')
  const others = parts.filter(isHandlers)
  const routes = others
    .flatMap((part) => part.prefixes.map((prefix) => ({ prefix, part })))
    .toSorted((a, b) => b.prefix.length - a.prefix.length)
  const bindingsOf = bindingsFor(parts)
  const Base: Entrypoint = main?.made ?? NoMethods

  return class extends Base {
    readonly #all: Bindings

    constructor(execution: Execution, all: Bindings) {
      super(execution, main ? bindingsOf(main, all) : {})
      this.#all = all
    }

    override fetch(request: Request): Answer {
      const { pathname } = new URL(request.url)
      const part = routes.find(({ prefix }) => pathname.startsWith(prefix))?.part
      return part
        ? part.made.fetch(request, bindingsOf(part, this.#all), this.ctx)
        : super.fetch(request)
    }

    override async scheduled(event: unknown): Promise<void> {
      await Promise.all([
        super.scheduled?.(event),
        ...others.map((part) =>
          part.made.scheduled?.(event, bindingsOf(part, this.#all), this.ctx),
        ),
      ])
    }

    async email(mail: unknown): Promise<void> {
      const taker = others.find(({ made }) => 'email' in made)
      if (!taker?.made.email) throw new Error('no function of this worker takes mail')
      await taker.made.email(mail, bindingsOf(taker, this.#all), this.ctx)
    }
  }
}

function isEntrypoint(part: Part): part is EntrypointPart {
  return typeof part.made === 'function'
}

function isHandlers(part: Part): part is HandlersPart {
  return !isEntrypoint(part)
}

/** Returns what gives each function its bindings out of all those of the worker. They stay the same objects. */
function bindingsFor(parts: readonly Part[]): (part: Part, all: Bindings) => Bindings {
  const found = new Map<string, Bindings>()
  const bindingsOf = (part: Part, all: Bindings): Bindings => {
    const known = found.get(part.folder)
    if (known) return known
    const bindings: Bindings = {}
    found.set(part.folder, bindings)
    for (const name of part.given) bindings[name] = all[name]
    for (const [name, folder] of Object.entries(part.calls)) {
      const called = parts.find((other) => other.folder === folder)
      if (called) bindings[name] = callWithin(called, bindingsOf(called, all))
    }
    return bindings
  }
  return bindingsOf
}

/** Returns a binding to a function of the same worker. */
function callWithin({ made }: Part, bindings: Bindings): object {
  // The work of a call belongs to the request that it is made in.
  const execution = { waitUntil }
  return typeof made === 'function'
    ? new made(execution, bindings)
    : { fetch: (request: Request) => made.fetch(request, bindings, execution) }
}
