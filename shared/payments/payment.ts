/**
 * A payment as it leaves the database, and the facts that come with it. Parsed once here; everything
 * else in payments/ works on these types. Money is bigint from here on.
 */
import * as z from 'zod'
import { addressSchema, wordSchema } from '../chains/hex.ts'
import { bigintText, time } from '../db/row-fields.ts'
import { mandateRow } from '../mandates/mandate-row.ts'
import { consentLevels } from '../policy/facts.ts'

/** One row of private.payments; state changes only in SQL. */
export const paymentRow = z.object({
  id: z.uuid(),
  account: z.uuid(),
  kind: z.enum(['transfer', 'x402']),
  state: z.enum([
    'prepared',
    'awaiting_confirmation',
    'authorized',
    'signed',
    'unknown',
    'settled',
    'failed',
    'released',
    'expired',
    'declined',
  ]),
  chain: z.int(),
  token: addressSchema,
  wallet: addressSchema,
  payee: addressSchema,
  payee_alias: z.string().nullable(),
  amount_atomic: bigintText,
  amount_usd_micros: bigintText,
  memo: z.string().nullable(),
  /** Whether the service itself heard the challenge from the origin that is paid. */
  heard: z.boolean(),
  /** The mandate under which it was authorized. */
  mandate: z.uuid().nullable(),
  terms: z.record(z.string(), z.unknown()),
  expires_at: time,
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
  finality: z.enum(['submitted', 'included', 'safe', 'finalized', 'reorged']).nullable(),
  failure: z.string().nullable(),
  delivery: z.unknown().optional(),
})

/** A row as it was read: hex checked, amounts as bigint, times in UTC. */
export type Payment = z.output<typeof paymentRow>

const window = z
  .object({ limit: bigintText, spent: bigintText, resets_at: time.nullable() })
  .transform(({ resets_at, ...rest }) => ({ ...rest, resetsAt: resets_at }))

/** The limits of an account with what is used of them. */
export const limitsRow = z.object({
  automatic_daily: window,
  asserted_daily: window,
  daily_spending_cap: window,
})

/** What api.begin_payment and api.payment_facts answer beside the payment. */
export const factsRow = z.object({
  version: z.int(),
  limits: limitsRow,
  asserted_new_recipient_limit: bigintText,
  recipient_known: z.boolean(),
  similar_recipient: z.string().nullable(),
  device_known: z.boolean(),
  /** What the owner said, and the digest of the terms that it was about. */
  approval: z
    .object({
      decision: z.enum(['approved', 'declined']),
      digest: z.string(),
      level: z.enum(['user_session', 'user_passkey']),
    })
    .nullable(),
  has_passkey: z.boolean(),
  /** Those that name the merchant or the payee, whatever their state. */
  mandates: z.array(mandateRow),
  /** What was paid for the same resource before; empty, and null, where nothing was. */
  history: z.object({
    payees: z.array(addressSchema),
    assets: z.array(z.object({ chain: z.int(), token: addressSchema })),
    lowest_usd_micros: bigintText.nullable(),
    highest_usd_micros: bigintText.nullable(),
  }),
  reserved_atomic: bigintText,
  /** Unix seconds by the database's clock: a worker's own may be wrong. */
  now: z.int(),
  /** Relayers in service, with the transactions that are in flight from them. */
  lanes: z.array(z.object({ address: addressSchema, next_nonce: z.int() })),
})

/** A payment with its facts. */
export const enteredRow = z.object({ payment_row: paymentRow, facts: factsRow })
/** What api.begin_payment and api.payment_facts answer, read. */
export type Entered = z.output<typeof enteredRow>

/** Why it was closed unused; nobody is asked to confirm what can no longer be paid. */
export function endOf(entered: Pick<Entered, 'payment_row'> & { facts: { now: number } }) {
  const { state, expires_at } = entered.payment_row
  if (state === 'declined') return state
  const isUnused = state === 'prepared' || state === 'awaiting_confirmation'
  const isOver = isUnused && Date.parse(expires_at) <= entered.facts.now * 1000
  return state === 'expired' || isOver ? ('expired' as const) : undefined
}

/** A payment alone. */
export const foundRow = z.object({ payment_row: paymentRow })
