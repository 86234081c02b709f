/**
 * Hex where it comes in from the database or from a node: types, and schemas that hold them to their
 * length. No chain library, so that reading a row costs none.
 */
import * as z from 'zod'
import type { Address } from './chain.ts'

/** Bytes in hex with 0x, two digits each. */
export type Hex = `0x${string}`

/** Twenty bytes, as the product itself wrote them: their letter case may be their checksum. */
export const addressSchema = z.custom<Address>(isHexOf(/^0x[0-9a-fA-F]{40}$/))

/** Thirty-two bytes: a hash or a nonce, in lower case, whoever wrote it. */
export const wordSchema = z.custom<Hex>(isHexOf(/^0x[0-9a-fA-F]{64}$/)).transform(lowerCase)

/** Any bytes, in lower case. */
export const hexSchema = z.custom<Hex>(isHexOf(/^0x[0-9a-fA-F]*$/)).transform(lowerCase)

/** A quantity as a node answers it, read as bigint; a uint256 has at most 64 digits. */
export const quantitySchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform((text) => BigInt(text))

/**
 * Whether it can be a height or a place in a list: what no chain reaches would fit into no column, nor
 * would the place after it.
 */
export function isPosition(quantity: bigint): boolean {
  return quantity < 2n ** 31n - 1n
}

/** Whether seconds since 1970 can be the time of a block: no date holds what is far beyond. */
export function isTime(seconds: bigint): boolean {
  return seconds < 2n ** 40n
}

/** A height or a place in a list. */
export const positionSchema = quantitySchema.refine(isPosition)

/** A block number as JSON-RPC takes it. */
export function hexOf(quantity: bigint): Hex {
  return `0x${quantity.toString(16)}`
}

function isHexOf(pattern: RegExp) {
  return (value: unknown) => typeof value === 'string' && pattern.test(value)
}

// Columns take one form of a hash, and two endpoints that mean the same have to say the same.
function lowerCase(hex: Hex): Hex {
  return `0x${hex.slice(2).toLowerCase()}`
}
