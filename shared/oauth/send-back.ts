/**
 * The answer of the authorization endpoint (RFC 6749 section 4.1.2): the address to which the browser is
 * sent. The caller must make sure that the address belongs to the client.
 */
import type { World } from '../world.ts'
import { issuerOf } from './issuer.ts'

/** Returns the address that carries the answer to the client, with the issuer (RFC 9207). */
export function sendBack(
  { config }: Pick<World, 'config'>,
  redirectUri: string,
  answer: Readonly<Record<string, string>>,
): string {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries({ ...answer, iss: issuerOf(config) })) {
    url.searchParams.set(name, value)
  }
  return url.href
}
