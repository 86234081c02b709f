/**
 * Names of the authorization server and of the resources it protects. The operations and the MCP endpoint
 * are one resource server with two names: a token for one is valid for both.
 */
import type { Config } from '../env.ts'

type Places = Pick<Config, 'BASE_URL' | 'WEB_URL'>

/** Returns the issuer identifier (RFC 8414 section 2). */
export function issuerOf({ BASE_URL }: Places): string {
  return `${BASE_URL}/oauth`
}

/** Returns the resource indicators for which a token can be requested (RFC 8707). */
export function resourcesOf({ BASE_URL }: Places): readonly string[] {
  return [BASE_URL, `${BASE_URL}/mcp`]
}

/** True if a client may name this resource, with or without a slash at its end. */
export function isResource(config: Places, resource: string): boolean {
  return resourcesOf(config).includes(resource.replace(/\/$/, ''))
}
