/**
 * What a caller without the right token is told of where to get one: the header WWW-Authenticate
 * (RFC 6750 section 3) with the address of the resource's metadata (RFC 9728 section 5.1).
 */
import type { Config } from '../env.ts'

/** What is missing: a token, a good one, or one of these scopes. */
export type Missing =
  | { error?: 'invalid_token'; scope: string }
  | { error: 'insufficient_scope'; scope: string }

/** The challenge of the resource at a path below the base address; '' is the base address itself. */
export function challenge(
  { BASE_URL }: Pick<Config, 'BASE_URL'>,
  path: '' | '/mcp',
  { error, scope }: Missing,
): string {
  const parts = [
    ...(error === undefined ? [] : [`error="${error}"`]),
    `scope="${scope}"`,
    `resource_metadata="${metadataUrl(BASE_URL, path)}"`,
  ]
  return `Bearer ${parts.join(', ')}`
}

/** Well-known paths are at the root of a host, which is not ours where the base address has a path. */
function metadataUrl(baseUrl: string, path: string): string {
  const { origin, pathname } = new URL(baseUrl)
  const start = pathname === '/' ? origin : `${baseUrl}/oauth`
  return `${start}/.well-known/oauth-protected-resource${path}`
}
