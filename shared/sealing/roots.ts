/**
 * The root secrets of one purpose and the key-encryption keys made from them. The highest version
 * seals and every version opens, so a root is retired by rewrapping first and removing it afterwards.
 * No error of this file repeats what it read.
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

const schema = z.record(z.string().regex(/^[1-9][0-9]{0,8}$/), z.string())

/** What keys are for: a private key, an entry of the vault, a mail. None opens what another sealed. */
export type Purpose = 'custody' | 'vault' | 'mail'

/** Root secrets behind a function, so that printing or serializing the object shows none of them. */
export type Roots = {
  readonly purpose: Purpose
  /** The version that seals. */
  readonly newestVersion: number
  /** A fresh copy of the version's key-encryption key, 32 bytes; whoever asks fills it with zeros. */
  kek(version: number): Uint8Array
}

/**
 * Reads `{"1": "<32 bytes in base64>", ...}`; throws when that is not exactly what it is. One secret
 * may serve several purposes: their keys have nothing in common.
 */
export function readRoots(text: string, purpose: Purpose): Roots {
  const roots = parseRoots(text, purpose)
  return {
    purpose,
    newestVersion: Math.max(...roots.keys()),
    kek(version) {
      const root = roots.get(version)
      if (!root) throw new Error(`${purpose} has no root of version ${version}`)
      return hkdf(sha256, root, derivationSalt, utf8ToBytes(`kek/${purpose}/${version}`), 32)
    },
  }
}

function parseRoots(text: string, purpose: Purpose): Map<number, Uint8Array> {
  const entries = Object.entries(parseRecord(text, purpose))
  if (entries.length === 0 || entries.length > versionsMax) {
    throw new Error(`${purpose} needs 1 to ${versionsMax} roots`)
  }
  if (new Set(entries.map(([, secret]) => secret)).size < entries.length) {
    throw new Error(`two versions of the ${purpose} root are the same secret`)
  }
  return new Map(
    entries.map(([version, secret]) => [Number(version), decodeBase64(secret, rootBytes)]),
  )
}

/** JSON.parse quotes its input in its errors, which here would put a secret into a log. */
function parseRecord(text: string, purpose: Purpose): Record<string, string> {
  if (text.length > textCharactersMax) throw new Error(`the ${purpose} roots are too long`)
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    throw new Error(`the ${purpose} roots are not a JSON object of version to base64 secret`)
  }
}
