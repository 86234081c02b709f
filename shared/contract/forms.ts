/**
 * Forms of values in answers, with the bounds that they always keep. A value outside its form is a bug of
 * ours, so every stored or read value must fit the bound.
 */
import * as z from 'zod'

/** An address on a chain. */
export const address = z
  .string()
  .max(64)
  .regex(/^[0-9A-Za-z]+$/)

/** A hash on a chain: of a transaction, a block or a nonce. */
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

/** Digits of a number that may exceed 53 bits. */
export const digits = z
  .string()
  .max(80)
  .regex(/^[0-9]+$/)

/**
 * True if the text has no control or invisible characters. Not a pattern: schemas are read by engines that
 * know neither Unicode properties nor lookaround (RE2, Python).
 */
export const isVisible = (text: string): boolean => !/\p{C}/u.test(text)

/** Symbol or address of a token. */
export const token = z.string().max(64).regex(/^\S+$/).refine(isVisible)

/** A program's identifier, such as a code or a kind. */
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

/** An address of a page, or a site given by its origin alone. */
export const url = z.url().max(4096)

/** Position from which a list continues. */
export const cursor = z
  .string()
  .max(64)
  .regex(/^[0-9a-f-]+$/)

/** Builds a text for people or models, limited only in its UTF-16 length. */
export function words(lengthMax: number) {
  return z.string().max(lengthMax).meta({ contentMediaType: 'text/plain' })
}

/** Builds base64 bytes (RFC 4648 section 4) by a pattern: JSON Schema has no format `base64`. */
export function base64(lengthMax: number) {
  return z
    .string()
    .max(lengthMax)
    .regex(/^[A-Za-z0-9+/]*={0,2}$/)
    .meta({ contentEncoding: 'base64' })
}
