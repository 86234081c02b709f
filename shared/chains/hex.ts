/** Schemas of hex values where they come in from the database or the wire. No chain library. */
import * as z from 'zod'
import type { Address } from './registry-data.ts'

/** Twenty bytes. */
export const addressSchema = z.custom<Address>(
  (value) => typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value),
)

/** Thirty-two bytes: a hash or a nonce. */
export const wordSchema = z.custom<`0x${string}`>(
  (value) => typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value),
)

/** Any bytes. */
export const hexSchema = z.custom<`0x${string}`>(
  (value) => typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value),
)
