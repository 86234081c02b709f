/**
 * Hex where it comes in from the database or from a node: types, and schemas that hold them to their
 * length. No chain library, so that reading a row costs none.
 */
import * as z from 'zod'
import type { Address } from './chain.ts'

/** Bytes in hex with 0x, two digits each. */
export type Hex = `0x${string}`

/** Twenty bytes. */
export const addressSchema = z.custom<Address>(
  (value) => typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value),
)

/** Thirty-two bytes: a hash or a nonce. */
export const wordSchema = z.custom<Hex>(
  (value) => typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value),
)

/** Any bytes. */
export const hexSchema = z.custom<Hex>(
  (value) => typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value),
)

/** A quantity as a node answers it, read as bigint; a uint256 has at most 64 digits. */
export const quantitySchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform((text) => BigInt(text))

/** Whether it can be a height or a place in a list: what no chain reaches would fit into no column. */
export function isPosition(quantity: bigint): boolean {
  return quantity < 2n ** 31n
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
