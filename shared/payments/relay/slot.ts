/**
 * Parses a slot of a lane as it comes from the database: one nonce, every transaction that was signed for
 * it, and the payments whose calls they carry.
 */
import * as z from 'zod'
import { addressSchema, hexSchema, wordSchema } from '../../chains/hex.ts'
import { paymentRow } from '../payment.ts'

const attemptRow = z.object({
  tx_hash: wordSchema,
  raw: hexSchema,
  max_fee_per_gas: z.string().transform(BigInt),
  max_priority_fee_per_gas: z.string().transform(BigInt),
  age_seconds: z.int(),
  /** True if it carries a transfer that a freeze has stopped, so that it must not be sent. */
  held: z.boolean(),
})

/** Slot that is not final, with everything that was signed for it. */
export const slotRow = z.object({
  slot: z.int(),
  chain: z.int(),
  lane: addressSchema,
  kind: z.enum(['relayer', 'wallet']),
  nonce: z.int(),
  state: z.enum(['open', 'mined']),
  block_number: z.int().nullable(),
  block_hash: z.string().nullable(),
  attempts: z.array(attemptRow),
  /** Payments whose transfers it carries. */
  payments: z.array(paymentRow.omit({ terms: true, delivery: true })),
})

/** Parsed slot. */
export type Slot = z.output<typeof slotRow>
