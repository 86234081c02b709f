/**
 * Challenges that tell a client what it lacks and where to get it (RFC 6750 section 3, RFC 9449 section
 * 7.1, RFC 9728 section 5.1): the address of the metadata and the scope that the request needs.
 */
import { proofAlgorithms } from '../auth/dpop.ts'
import { wellKnownOf } from '../contract/documents/about.ts'
import type { Refusal } from '../contract/errors.ts'
import type { Config } from '../env.ts'

/** Path of the tools: people also paste it with a slash. */
export type McpPath = '/mcp' | '/mcp/'

/** Returns the path as the client named it; `address` is its URL or path. */
export function mcpPathOf(address: string): McpPath {
  return address.endsWith('/') ? '/mcp/' : '/mcp'
}

/** The request that was refused. */
export type RefusedRequest = {
  /** The scope that the request needs; a wider scope covers it. */
  scope: string
  /** The Authorization header as it came. */
  authorization: string | undefined
  /** Path of the resource that was requested; absent for operations. */
  resource?: McpPath
}

/** Returns the WWW-Authenticate header of a refusal; undefined if another token would not help. */
export function wwwAuthenticateOf(
  { BASE_URL }: Pick<Config, 'BASE_URL'>,
  { refusal }: Refusal,
  { scope, authorization, resource }: RefusedRequest,
): string | undefined {
  if (refusal !== 'unauthorized' && refusal !== 'insufficient_scope') return undefined
  const code = refusal === 'unauthorized' ? 'invalid_token' : 'insufficient_scope'
  const error = authorization === undefined ? [] : [`error="${code}"`]
  const isProven = /^dpop /i.test(authorization ?? '')
  const { protectedResource } = wellKnownOf(BASE_URL)
  const rest = [`scope="${scope}"`, `resource_metadata="${protectedResource}${resource ?? ''}"`]
  const bearer = [...(isProven ? [] : error), ...rest].join(', ')
  const dpop = [...(isProven ? error : []), `algs="${proofAlgorithms.join(' ')}"`, ...rest].join(
    ', ',
  )
  return `Bearer ${bearer}, DPoP ${dpop}`
}
