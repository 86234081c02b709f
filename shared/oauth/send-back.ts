/**
 * The answer of the authorization endpoint (RFC 6749 section 4.1.2): an address of the client to which
 * the browser takes it. That the address is one of the client's own is for the caller to make sure of.
 */
import type { World } from '../world.ts'
import { issuerOf } from './issuer.ts'

/** The address that tells the client an answer; who issued it is part of each (RFC 9207). */
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
