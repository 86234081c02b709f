/**
 * The typed client of an Agent Operating Account: one method for each operation, over fetch and
 * nothing else. It keeps nothing between calls.
 */
import { callOperation } from './call.ts'
import type { AccountClient } from './operations.ts'
import { operations } from './operations.ts'
import type { CallOptions, ClientOptions } from './options.ts'
import type { Input } from './request.ts'
import { readBaseUrl } from './request.ts'

export * from './account-error.ts'
export type * from './operations.ts'
export { contractDigest, errorCodes } from './operations.ts'
export type * from './options.ts'
export { pages } from './pages.ts'

/** Opens a client. Throws a TypeError when the address is not one that a token may be sent to. */
export function createClient(options: ClientOptions): AccountClient {
  const client = { ...options, baseUrl: readBaseUrl(options.baseUrl) }
  const methods = Object.entries(operations).map(([name, call]) => {
    const method = (input: Input = {}, own: CallOptions = {}) =>
      callOperation(call, input, client, own)
    return [name, method] as const
  })
  // The service parses its answers with the contracts that these types were made from.
  return Object.fromEntries(methods) as unknown as AccountClient
}
