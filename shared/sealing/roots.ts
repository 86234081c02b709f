/**
 * Root secrets of one purpose and the key-encryption keys derived from them. One version seals and every
 * version opens. To add a root, bind it everywhere before it seals; to retire one, rewrap all keys before
 * removing it. No error of this file repeats its input.
 */
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import * as z from 'zod'
import { decodeBase64 } from '../base64.ts'

const rootBytes = 32
const versionsMax = 64
const textCharactersMax = 16_384

/** Salt of every HKDF derivation from a root (RFC 5869 section 3.1). */
export const derivationSalt = utf8ToBytes('aoa/v1')

const secrets = z.record(z.string().regex(/^[1-9][0-9]{0,8}$/), z.string())
const sealing = z.int().positive().optional()

/** Purpose of a key: a private key, an entry of the vault, or a mail. A key opens only its own purpose. */
export type Purpose = 'custody' | 'vault' | 'mail'

/** Root secrets behind a function, so that printing or serializing the object does not show them. */
export type Roots = {
  readonly purpose: Purpose
  /** Version that seals. */
  readonly sealingVersion: number
  /** All versions that open, in ascending order. */
  readonly versions: readonly number[]
  /**
   * Returns a fresh copy of the version's key-encryption key, 32 bytes; the caller fills it with zeros.
   * Throws MissingRootError for a version that is not bound.
   */
  kek(version: number): Uint8Array
}

/** Error of a sealed record that is intact, but whose root is not bound to this function. */
export class MissingRootError extends Error {
  constructor(purpose: Purpose, version: number) {
    super(`${purpose} has no root of version ${version}: bind it again, nothing is lost`)
  }
}

/**
 * Reads `{"1": "<32 bytes in base64>", ..., "sealing": 1}` and throws on any other shape. Without `sealing`
 * the highest version seals. One secret may serve several purposes: the keys derived for them are
 * independent.
 */
export function readRoots(text: string, purpose: Purpose): Roots {
  const { roots, named } = parseRoots(text, purpose)
  const versions = [...roots.keys()].toSorted((one, other) => one - other)
  return {
    purpose,
    sealingVersion: named ?? Math.max(...versions),
    versions,
    kek(version) {
      const root = roots.get(version)
      if (!root) throw new MissingRootError(purpose, version)
      return hkdf(sha256, root, derivationSalt, utf8ToBytes(`kek/${purpose}/${version}`), 32)
    },
  }
}

function parseRoots(text: string, purpose: Purpose) {
  const { named, given } = parseParts(text, purpose)
  const entries = Object.entries(given)
  if (entries.length === 0 || entries.length > versionsMax) {
    throw new Error(`${purpose} needs 1 to ${versionsMax} roots`)
  }
  if (new Set(entries.map(([, secret]) => secret)).size < entries.length) {
    throw new Error(`two versions of the ${purpose} root are the same secret`)
  }
  if (named !== undefined && !Object.hasOwn(given, named)) {
    throw new Error(`${purpose} shall seal under version ${named}, which is not among its roots`)
  }
  const roots = new Map(
    entries.map(([version, secret]) => [Number(version), decodeBase64(secret, rootBytes)]),
  )
  return { roots, named }
}

/** Parses the JSON without quoting it in an error, as JSON.parse does: that would log a secret. */
function parseParts(text: string, purpose: Purpose) {
  if (text.length > textCharactersMax) throw new Error(`the ${purpose} roots are too long`)
  try {
    const { sealing: named, ...given } = z.looseObject({ sealing }).parse(JSON.parse(text))
    return { named, given: secrets.parse(given) }
  } catch {
    throw new Error(`the ${purpose} roots are not a JSON object of version to base64 secret`)
  }
}
