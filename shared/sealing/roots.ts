/**
 * The root secrets of one purpose and the key-encryption keys made from them. One version seals and
 * every version opens, so a root comes in by being known everywhere before it seals, and is retired
 * by rewrapping first and removing it afterwards. No error of this file repeats what it read.
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

/** What keys are for: a private key, an entry of the vault, a mail. None opens what another sealed. */
export type Purpose = 'custody' | 'vault' | 'mail'

/** Root secrets behind a function, so that printing or serializing the object shows none of them. */
export type Roots = {
  readonly purpose: Purpose
  /** The version that seals. */
  readonly sealingVersion: number
  /** All versions that open, in ascending order. */
  readonly versions: readonly number[]
  /**
   * A fresh copy of the version's key-encryption key, 32 bytes; whoever asks fills it with zeros.
   * Throws MissingRoot for a version that is not here.
   */
  kek(version: number): Uint8Array
}

/** What was sealed is whole, but the root that opens it was not given to this function. */
export class MissingRoot extends Error {
  constructor(purpose: Purpose, version: number) {
    super(`${purpose} has no root of version ${version}: bind it again, nothing is lost`)
  }
}

/**
 * Reads `{"1": "<32 bytes in base64>", ..., "sealing": 1}`; throws when that is not exactly what it
 * is. Without `sealing` the highest version seals. One secret may serve several purposes: their keys
 * have nothing in common.
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
      if (!root) throw new MissingRoot(purpose, version)
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

/** JSON.parse quotes its input in its errors, which here would put a secret into a log. */
function parseParts(text: string, purpose: Purpose) {
  if (text.length > textCharactersMax) throw new Error(`the ${purpose} roots are too long`)
  try {
    const { sealing: named, ...given } = z.looseObject({ sealing }).parse(JSON.parse(text))
    return { named, given: secrets.parse(given) }
  } catch {
    throw new Error(`the ${purpose} roots are not a JSON object of version to base64 secret`)
  }
}
