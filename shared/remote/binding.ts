/**
 * A binding to a function that runs elsewhere: in another process, or behind an address. It has every method; whoever
 * carries the calls decides which of them are answered.
 */

/** The two ways in which functions reach each other. */
export type Reached = {
  call: (method: string, args: readonly unknown[]) => Promise<unknown>
  fetch: (request: Request) => Promise<Response>
}

/** Returns the binding; `reached` is asked for at each call, so it may be there later than the binding. */
export function bindingOf(reached: () => Reached): object {
  return new Proxy(
    {},
    {
      get: (_, method) => {
        // A promise that resolves to the binding asks it for `then`.
        if (typeof method !== 'string' || method === 'then') return undefined
        return method === 'fetch'
          ? (request: Request) => reached().fetch(request)
          : (...args: unknown[]) => reached().call(method, args)
      },
    },
  )
}
