/**
 * The typed client of an Agent Operating Account: one method for each operation, on top of fetch alone.
 * It keeps nothing between calls.
 */
import { callOperation, type Input, readBaseUrl } from './call.ts'
import { type AccountClient, operations } from './operations.ts'
import type { CallOptions, ClientOptions } from './options.ts'

export * from './account-error.ts'
export type * from './operations.ts'
export { contractDigest, errorCodes } from './operations.ts'
export type * from './options.ts'
export { pages } from './pages.ts'

/** Opens a client. Throws a TypeError if a token must not be sent to the address. */
export function createClient(options: ClientOptions): AccountClient {
  const client = { ...options, baseUrl: readBaseUrl(options.baseUrl) }
  const methods = Object.entries(operations).map(([name, call]) => {
    const method = (input: Input = {}, own: CallOptions = {}) =>
      callOperation(call, input, client, own)
    return [name, method] as const
  })
  // The service parses its answers with the contracts that these types are made from.
  return Object.fromEntries(methods) as unknown as AccountClient
}
