/**
 * The secrets of a sign-up: a code of six digits that proves a mail address, and the link that it is
 * exchanged for. What is kept of either is a digest, from which it cannot be told.
 */
import { credentialOf } from '../auth/api-key.ts'
import { encodeForUrl } from '../base64.ts'
import type { World } from '../world.ts'

type Randomness = Pick<World, 'randomBytes'>

const codes = 1_000_000
const draws = 2 ** 32

/** Six digits, each code as likely as any other. */
export function createCode(world: Randomness): string {
  for (;;) {
    const [a = 0, b = 0, c = 0, d = 0] = world.randomBytes(4)
    const draw = ((a * 256 + b) * 256 + c) * 256 + d
    // Draws beyond the last whole million would favour the low codes.
    if (draw < draws - (draws % codes)) return String(draw % codes).padStart(6, '0')
  }
}

/** What is kept of a code. It is bound to the address: the same code of another one is another digest. */
export function codeDigest(pepper: string, email: string, code: string): Promise<string> {
  return credentialOf(`${code}\n${email}`, pepper)
}

/** The secret part of a registration link: 256 bits in base64url. */
export function createLink(world: Randomness): string {
  return encodeForUrl(world.randomBytes(32))
}
