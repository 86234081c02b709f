/**
 * Types and length-checked schemas for hex that comes from the database or from a node. The file imports no
 * chain library, so code that only reads rows does not load one.
 */
import * as z from 'zod'
import type { Address } from './chain.ts'

/** Bytes in hex with 0x, two digits each. */
export type Hex = `0x${string}`

/** Address of twenty bytes as the product wrote it. The case is kept; it may be the checksum. */
export const addressSchema = z.custom<Address>(isHexOf(/^0x[0-9a-fA-F]{40}$/))

/** Hash or nonce of thirty-two bytes, converted to lower case. */
export const wordSchema = z.custom<Hex>(isHexOf(/^0x[0-9a-fA-F]{64}$/)).transform(lowerCase)

/** Any number of bytes, converted to lower case. */
export const hexSchema = z.custom<Hex>(isHexOf(/^0x[0-9a-fA-F]*$/)).transform(lowerCase)

/** JSON-RPC quantity, read as a bigint. A uint256 has at most 64 hex digits. */
export const quantitySchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform((text) => BigInt(text))

/**
 * Returns true if the quantity can be a block height or a list index. The bound keeps the value and its
 * successor within a 32-bit integer column; no chain reaches it.
 */
export function isPosition(quantity: bigint): boolean {
  return quantity < 2n ** 31n - 1n
}

/** Returns true if the Unix seconds can be the time of a block. Larger values fit no date. */
export function isTime(seconds: bigint): boolean {
  return seconds < 2n ** 40n
}

/** Block height or list index, checked by `isPosition`. */
export const positionSchema = quantitySchema.refine(isPosition)

/** Returns a block number in the form that JSON-RPC takes. */
export function hexOf(quantity: bigint): Hex {
  return `0x${quantity.toString(16)}`
}

/** Compares hex without regard to letter case. */
export function sameHex(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

function isHexOf(pattern: RegExp) {
  return (value: unknown) => typeof value === 'string' && pattern.test(value)
}

// The database stores one form of each hash, and equal answers of two endpoints must compare as equal.
function lowerCase(hex: Hex): Hex {
  return `0x${hex.slice(2).toLowerCase()}`
}

/** Reads a returned uint256. Returns undefined if the contract is absent or the call failed. */
export function readWord(returned: Hex | undefined): bigint | undefined {
  return returned !== undefined && returned.length === 66 ? BigInt(returned) : undefined
}
