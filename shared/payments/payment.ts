/**
 * Parses a payment as it comes from the database. Everything else in payments/ works on this type. Money is
 * bigint from here on.
 */
import * as z from 'zod'
import { addressSchema, wordSchema } from '../chains/hex.ts'
import { bigintText, time } from '../db/row-fields.ts'
import { consentLevels } from '../policy/facts.ts'
import { isUndecided, paymentStates } from './states.ts'

/** Row of private.payments; its state changes only in SQL. */
export const paymentRow = z.object({
  id: z.uuid(),
  account: z.uuid(),
  /** Key or app that asked; keys that replace it share this id. */
  asked_by: z.uuid(),
  /** Choices that the owner made when approving it. */
  for_any_key: z.boolean(),
  remembers_payee: z.boolean(),
  remembered_device: z.string().nullable(),
  kind: z.enum(['transfer', 'x402']),
  /** State as it is told; see states.ts. */
  state: z.enum(paymentStates),
  chain: z.int(),
  token: addressSchema,
  wallet: addressSchema,
  payee: addressSchema,
  payee_alias: z.string().nullable(),
  amount_atomic: bigintText,
  amount_usd_micros: bigintText,
  memo: z.string().nullable(),
  /** Words of the owner about a decline. */
  decline_reason: z.string().nullable(),
  /** True if the service itself received the challenge from the origin that is paid. */
  heard: z.boolean(),
  /** Mandate under which it was authorized. */
  mandate: z.uuid().nullable(),
  terms: z.record(z.string(), z.unknown()),
  created_at: time,
  expires_at: time,
  /** Whose confirmation it waits for, or waited for last; null if nobody was asked. */
  asked_level: z.enum(consentLevels).nullable(),
  consent_level: z.enum(consentLevels).nullable(),
  valid_after: z.int().nullable(),
  valid_before: z.int().nullable(),
  authorized_block: z.int().nullable(),
  authorization_nonce: wordSchema.nullable(),
  signature: z.string().nullable(),
  settled_atomic: bigintText.nullable(),
  tx_hash: wordSchema.nullable(),
  block_number: z.int().nullable(),
  block_hash: wordSchema.nullable(),
  log_index: z.int().nullable(),
  finality: z
    .enum(['submitted', 'reverted', 'included', 'safe', 'finalized', 'reorged'])
    .nullable(),
  failure: z.string().nullable(),
  delivery: z.unknown().optional(),
})

/** Parsed row: hex checked, amounts as bigint, times in UTC. */
export type Payment = z.output<typeof paymentRow>

/** Row with a payment alone. */
export const foundRow = z.object({ payment_row: paymentRow })

/** Returns why a payment was closed unused. Nobody is asked to confirm what can no longer be paid. */
export function endOf({ state, expires_at }: Payment, nowSeconds: number) {
  if (state === 'declined') return state
  const isOver = isUndecided(state) && Date.parse(expires_at) <= nowSeconds * 1000
  return state === 'expired' || isOver ? ('expired' as const) : undefined
}
