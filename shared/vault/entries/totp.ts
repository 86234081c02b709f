/**
 * Time-based one-time passwords (RFC 6238). A seed is read from an otpauth:// address or from bare base32,
 * as sites show it. It is never given out again; only its codes are.
 */
import { hmac } from '@noble/hashes/hmac.js'
import { sha1 } from '@noble/hashes/legacy.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import * as z from 'zod'
import { decodeBase32 } from '../../base64.ts'
import { trimEndOf } from '../../text/untrusted.ts'

const hashes = { SHA1: sha1, SHA256: sha256, SHA512: sha512 }
const textCharactersMax = 1024

/** Seed and parameters of the codes, as they are stored in the sealed part of an entry. */
export const totpSchema = z.strictObject({
  /** Base32 of 10 to 128 bytes, in upper case without padding. */
  seed: z.string().regex(/^[A-Z2-7]{16,205}$/),
  algorithm: z.enum(['SHA1', 'SHA256', 'SHA512']),
  digits: z.int().min(6).max(8),
  periodSeconds: z.int().min(5).max(300),
})

/** A seed with its parameters. */
export type Totp = z.output<typeof totpSchema>

/** Reads the text that a site shows; a refusal is a sentence that repeats nothing of the secret. */
export function readTotp(text: string): Totp | { refused: string } {
  if (text.length > textCharactersMax) return { refused: 'The TOTP secret is too long.' }
  const trimmed = text.trim()
  const given = /^otpauth:/i.test(trimmed) ? parametersOf(trimmed) : { secret: trimmed }
  if ('refused' in given) return given
  const { secret, algorithm = 'SHA1', digits = '6', period = '30' } = given
  const read = totpSchema.safeParse({
    seed: trimEndOf(secret.toUpperCase().replace(/[\s-]/g, ''), '='),
    algorithm: algorithm.toUpperCase().replace('-', ''),
    digits: wholeNumber(digits),
    periodSeconds: wholeNumber(period),
  })
  if (read.success) return read.data
  return {
    refused:
      'The TOTP secret is neither base32 of 10 to 128 bytes nor an otpauth address with SHA-1, ' +
      'SHA-256 or SHA-512, 6 to 8 digits and a period of 5 to 300 seconds.',
  }
}

type Parameters = { secret: string; algorithm?: string; digits?: string; period?: string }

/** Reads an otpauth address (https://github.com/google/google-authenticator/wiki/Key-Uri-Format). */
function parametersOf(text: string): Parameters | { refused: string } {
  if (!URL.canParse(text)) return { refused: 'The otpauth address cannot be parsed.' }
  const url = new URL(text)
  // The URL parser keeps the case of the host if it does not know the scheme.
  if (url.host.toLowerCase() !== 'totp') {
    return { refused: 'Only otpauth addresses of type totp give codes by the clock.' }
  }
  const names = ['secret', 'algorithm', 'digits', 'period']
  if (names.some((name) => url.searchParams.getAll(name).length > 1)) {
    return { refused: 'The otpauth address names a parameter twice.' }
  }
  const { secret = '', ...others } = Object.fromEntries(
    names.flatMap((name) => {
      const value = url.searchParams.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
  return { secret, ...others }
}

function wholeNumber(text: string): number {
  return /^[0-9]{1,4}$/.test(text) ? Number(text) : Number.NaN
}

/** Returns the code at a moment (milliseconds of the epoch), and for how many more seconds it is valid. */
export function totpCode(
  totp: Totp,
  nowMilliseconds: number,
): { code: string; secondsLeft: number } {
  const seconds = Math.floor(nowMilliseconds / 1000)
  const step = Math.floor(seconds / totp.periodSeconds)
  const seed = decodeBase32(totp.seed)
  try {
    return {
      code: hotp(totp, seed, step),
      secondsLeft: (step + 1) * totp.periodSeconds - seconds,
    }
  } finally {
    seed.fill(0)
  }
}

/** Computes the code of a step (RFC 4226 section 5.3); the digest's last four bits give the offset. */
function hotp({ algorithm, digits }: Totp, seed: Uint8Array, step: number): string {
  const counter = new Uint8Array(8)
  new DataView(counter.buffer).setBigUint64(0, BigInt(step))
  const digest = hmac(hashes[algorithm], seed, counter)
  const offset = (digest.at(-1) ?? 0) & 15
  const number = new DataView(digest.buffer, digest.byteOffset).getUint32(offset) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}
