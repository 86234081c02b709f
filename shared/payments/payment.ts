/** The row of a payment, its states, and the groups of states that code asks for. */
import * as z from 'zod'
import { addressSchema, wordSchema } from '../chains/hex.ts'
import { fail } from '../contract/errors.ts'
import { bigintText, time } from '../money/row-fields.ts'
import { consentLevels, limitCodes } from '../policy/facts.ts'

/**
 * States of a payment. Those that are stored change in SQL alone, each from the one before:
 *
 *     prepared -> awaiting_confirmation -> authorized -> signed -> settled | released
 *
 * It is `expired` or `declined` before it is authorized, and `released` too if nothing was signed in time. Only a
 * final block makes `settled`, and the end of a signature `released`. A signed payment is reported as `settled` while
 * an endpoint shows it in a block, and as `unknown` from a merchant's answer until then (private.reported_state).
 * `finality` tells these from what is final. No limit and no reservation follows what is reported.
 */
export const paymentStates = [
  'prepared',
  'awaiting_confirmation',
  'authorized',
  'signed',
  'unknown',
  'settled',
  'released',
  'expired',
  'declined',
] as const

/** State as it is reported. */
export type PaymentState = (typeof paymentStates)[number]

/** True if nothing is reserved for it so far. */
export function isUndecided(state: PaymentState): boolean {
  return state === 'prepared' || state === 'awaiting_confirmation'
}

/** True if it is signed or about to be, and no endpoint shows it in a block. */
export function isUnderWay(state: PaymentState): boolean {
  return state === 'authorized' || state === 'signed' || state === 'unknown'
}

/** True if its signature was or can be used. */
export function isSigned(state: PaymentState): boolean {
  return state === 'signed' || state === 'unknown' || state === 'settled'
}

/** True if it was decided that it may be paid, and it was not given up since. */
export function isReserved(state: PaymentState): boolean {
  return state === 'authorized' || isSigned(state)
}

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
  passes_daily_cap: z.boolean(),
  kind: z.enum(['transfer', 'x402']),
  /** State as it is reported; see paymentStates. */
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
  /** Limits for which it was refused last. */
  refused_for: z.array(z.enum(limitCodes)).nullish(),
  /** True if the service itself received the challenge from the origin that is paid. */
  verified_with_merchant: z.boolean(),
  /** Mandate under which it was authorized. */
  mandate: z.uuid().nullable(),
  terms: z.record(z.string(), z.unknown()),
  created_at: time,
  expires_at: time,
  /** Confirmation that it waits for, or waited for last; null if nobody was asked. */
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
export function closingReason({ state, expires_at }: Payment, nowSeconds: number) {
  if (state === 'declined') return state
  const isOver = isUndecided(state) && Date.parse(expires_at) <= nowSeconds * 1000
  return state === 'expired' || isOver ? ('expired' as const) : undefined
}

/** Row of api.get_wallet, as far as payments need it. */
export const walletRow = z.object({ address: addressSchema })

/** Refusal of such a payment, for which nothing is entered. */
export const ownWallet = fail('recipient_refused', { message: 'This is your own wallet.' })
