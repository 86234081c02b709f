/**
 * The typed client of an Agent Operating Account: one method for each operation, on top of fetch alone.
 * It keeps nothing between calls.
 */
import { callOperation, type Input, readBaseUrl } from './call.ts'
import { type AccountClient, operations } from './operations.ts'
import type { CallOptions, ClientOptions } from './options.ts'
import { type PaidInit, paidFetch } from './paid-fetch.ts'

export * from './account-error.ts'
export type * from './operations.ts'
export { contractDigest, errorCodes } from './operations.ts'
export type * from './options.ts'
export { pages } from './pages.ts'
export {
  type Asked,
  isOutcomeOpen,
  type PaidInit,
  PaymentError,
  type PaymentProblem,
} from './paid-fetch.ts'

/** A client with the fetch that pays. */
export type Account = AccountClient & {
  /** Sends a request; where it is answered 402, pays within `maxUsd` and returns what was bought. */
  fetch: (input: string | URL, init?: PaidInit) => Promise<Response>
}

/** Opens a client. Throws a TypeError if a token must not be sent to the address. */
export function createClient(options: ClientOptions): Account {
  const client = { ...options, baseUrl: readBaseUrl(options.baseUrl) }
  const methods = Object.entries(operations).map(([name, call]) => {
    const method = (input: Input = {}, own: CallOptions = {}) =>
      callOperation(call, input, client, own)
    return [name, method] as const
  })
  // The service parses its answers with the contracts that these types are made from.
  const account = Object.fromEntries(methods) as unknown as AccountClient
  const send = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
  return { ...account, fetch: paidFetch(account, send) }
}
