/**
 * Recovery codes: 80 random bits each, written so that people can copy them from paper. The database
 * keeps keyed hashes. A code signs in once; it proves nothing, and so it widens nothing.
 */
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { credentialOf } from './api-key.ts'

/** How many an owner is given at a time. */
const recoveryCodeCount = 10

/** Crockford's base32: no i, l, o or u to be taken for something else. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const letters = 16

/** New codes, in groups of four letters. */
export function newRecoveryCodes(world: World): string[] {
  return Array.from({ length: recoveryCodeCount }, () => {
    // 256 is a multiple of 32, so no letter is favoured.
    const text = Array.from(world.randomBytes(letters), (byte) => alphabet[byte % 32]).join('')
    return text.replace(/(.{4})(?=.)/g, '$1-')
  })
}

/** What stands for a code in the database, however it was typed. */
export function recoveryDigest(world: World, code: string): Promise<string> {
  const typed = code.toLowerCase().replaceAll('o', '0').replace(/[il]/g, '1')
  const letters = typed.replace(/[^0-9a-z]/g, '').slice(0, 64)
  return credentialOf(`recovery ${letters}`, required(world.config, 'API_KEY_PEPPER'))
}
