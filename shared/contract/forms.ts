/**
 * Forms of values in answers, with the bounds within which they always are. A value out of its form is
 * an error of ours, so a bound is one that nothing stored or read can pass.
 */
import * as z from 'zod'

/** An address on a chain. */
export const address = z
  .string()
  .max(64)
  .regex(/^[0-9A-Za-z]+$/)

/** A hash of a chain: of a transaction, a block or a nonce. */
export const chainHash = z
  .string()
  .max(66)
  .regex(/^0x[0-9a-fA-F]{64}$/)

/** SHA-256 in hex. */
export const sha256 = z
  .string()
  .max(64)
  .regex(/^[0-9a-f]{64}$/)

/** A decimal string without an exponent. */
export const decimal = z
  .string()
  .max(100)
  .regex(/^-?[0-9]+(\.[0-9]+)?$/)

/** Digits of a number that may be larger than 53 bits. */
export const digits = z
  .string()
  .max(80)
  .regex(/^[0-9]+$/)

/** Symbol or address of a token. */
export const token = z
  .string()
  .max(64)
  .regex(/^[^\s\p{C}]+$/u)

/** A word of a program, such as a code or a kind. */
export const word = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9_.:-]+$/)

/** An alias of an account. */
export const alias = z
  .string()
  .max(64)
  .regex(/^[a-z0-9-]+$/)

/** A mail address of an account. */
export const mailAddress = z
  .string()
  .max(320)
  .regex(/^[^\s@]+@[^\s@]+$/)

/** An address of a page, or of a site that is nothing but its origin. */
export const url = z.url().max(4096)

/** Where a list goes on. */
export const cursor = z
  .string()
  .max(64)
  .regex(/^[0-9a-f-]+$/)

/** Text for people or models, which has no form but its length in UTF-16 units. */
export function words(lengthMax: number) {
  return z.string().max(lengthMax).meta({ contentMediaType: 'text/plain' })
}

/** Bytes in base64 (RFC 4648 section 4). A pattern, because `base64` is no format of JSON Schema. */
export function base64(lengthMax: number) {
  return z
    .string()
    .max(lengthMax)
    .regex(/^[A-Za-z0-9+/]*={0,2}$/)
    .meta({ contentEncoding: 'base64' })
}
