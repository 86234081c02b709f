/**
 * Secrets of a sign-up: a six-digit code that proves a mail address, and the link for which it is
 * exchanged. Only digests are stored, from which neither can be derived.
 */
import { credentialOf } from '../auth/api-key.ts'
import { encodeForUrl } from '../base64.ts'
import type { World } from '../world.ts'

type Randomness = Pick<World, 'randomBytes'>

const codes = 1_000_000
const draws = 2 ** 32

/** Makes a code of six digits, each equally likely. */
export function createCode(world: Randomness): string {
  for (;;) {
    const [a = 0, b = 0, c = 0, d = 0] = world.randomBytes(4)
    const draw = ((a * 256 + b) * 256 + c) * 256 + d
    // Draws beyond the last whole million would favour low codes.
    if (draw < draws - (draws % codes)) return String(draw % codes).padStart(6, '0')
  }
}

/** Returns the stored digest of a code; it covers the address, so that each address has its own. */
export function codeDigest(pepper: string, email: string, code: string): Promise<string> {
  return credentialOf(`${code}\n${email}`, pepper)
}

/** Returns the digests under all peppers, separated by spaces: a code is right if one of them is stored. */
export async function codeDigests(
  peppers: readonly string[],
  email: string,
  code: string,
): Promise<string> {
  return (await Promise.all(peppers.map((pepper) => codeDigest(pepper, email, code)))).join(' ')
}

/** Makes the secret part of a registration link: 256 bits in base64url. */
export function createRegistrationSecret(world: Randomness): string {
  return encodeForUrl(world.randomBytes(32))
}
