/**
 * Recovery codes: 80 random bits each, in a form that people can copy from paper. The database stores keyed
 * hashes. A code signs in once. It is not a proof, so it cannot widen any access.
 */
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'

/** Number of codes that an owner gets at a time. */
const recoveryCodeCount = 10

/** Crockford's base32: without i, l, o and u, which are easily misread. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const letters = 16

/** Makes new codes, in groups of four letters. */
export function newRecoveryCodes(world: World): string[] {
  return Array.from({ length: recoveryCodeCount }, () => {
    // 256 is a multiple of 32, so every letter is equally likely.
    const text = Array.from(world.randomBytes(letters), (byte) => alphabet[byte % 32]).join('')
    return text.replace(/(.{4})(?=.)/g, '$1-')
  })
}

/** Returns the keyed hash of a code, tolerant of how it was typed. */
export function recoveryDigest(world: World, code: string): Promise<string> {
  const typed = code.toLowerCase().replaceAll('o', '0').replace(/[il]/g, '1')
  const letters = typed.replace(/[^0-9a-z]/g, '').slice(0, 64)
  return credentialOf(`recovery ${letters}`, required(world.config, 'API_KEY_PEPPER'))
}
