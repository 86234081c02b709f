/**
 * Names of the authorization server and of what it protects. Operations and the MCP endpoint are one
 * resource server with two names: a token for either is good for both.
 */
import type { Config } from '../env.ts'

type Places = Pick<Config, 'BASE_URL' | 'WEB_URL'>

/** The issuer identifier (RFC 8414 section 2). */
export function issuerOf({ BASE_URL }: Places): string {
  return `${BASE_URL}/oauth`
}

/** The resource indicators that a token can be asked for (RFC 8707). */
export function resourcesOf({ BASE_URL }: Places): readonly string[] {
  return [BASE_URL, `${BASE_URL}/mcp`]
}

/** Whether a client may name this resource; a slash at the end of the bare address is the same. */
export function isResource(config: Places, resource: string): boolean {
  return [...resourcesOf(config), `${config.BASE_URL}/`].includes(resource)
}
