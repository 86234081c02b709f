/**
 * What the database tells when a payment is entered or gone on with: the payment with the facts that
 * it is decided from.
 */
import * as z from 'zod'
import type { GasSeen } from '../chains/evm/gas-seen.ts'
import { addressSchema } from '../chains/hex.ts'
import { bigintText, time } from '../db/row-fields.ts'
import { mandateFacts, mandateRow } from '../mandates/mandate-row.ts'
import { ownersLevels } from '../policy/facts.ts'
import { payersUnder } from '../policy/mandate.ts'
import type { History } from '../policy/memory.ts'
import { paymentRow } from './payment.ts'

const window = z
  .object({ limit: bigintText, spent: bigintText, resets_at: time.nullable() })
  .transform(({ resets_at, ...rest }) => ({ ...rest, resetsAt: resets_at }))

/** The limits of an account with what is used of them. */
export const limitsRow = z.object({
  automatic_daily: window,
  asserted_daily: window,
  daily_spending_cap: window,
})

/** The caps of a key or of an app's grant, with what is used of them; null where it has none. */
export const capsRow = z.object({ payment: bigintText.nullable(), daily: window.nullable() })

const history = z
  .object({
    payees: z.array(addressSchema),
    assets: z.array(z.object({ chain: z.int(), token: addressSchema })),
    lowest_usd_micros: bigintText.nullable(),
    highest_usd_micros: bigintText.nullable(),
  })
  .transform(
    ({ lowest_usd_micros, highest_usd_micros, ...rest }): History => ({
      ...rest,
      lowestUsdMicros: lowest_usd_micros,
      highestUsdMicros: highest_usd_micros,
    }),
  )

const refusedWay = z.object({
  protocol: z.string().nullable(),
  scheme: z.string().nullable(),
  transfer_method: z.string().nullable(),
  payment_flow: z.string().nullable(),
  chain: z.int(),
  token: addressSchema,
  payee: addressSchema,
  amount_atomic: bigintText,
})

/** What gas cost on a chain lately. */
export const gasSeenRow = z
  .object({
    max_fee_per_gas: bigintText,
    max_priority_fee_per_gas: bigintText,
    data_fee_wei: bigintText,
    call_wei: bigintText,
  })
  .transform(
    (row): GasSeen => ({
      maxFeePerGas: row.max_fee_per_gas,
      maxPriorityFeePerGas: row.max_priority_fee_per_gas,
      dataFeeWei: row.data_fee_wei,
      callWei: row.call_wei,
    }),
  )

/** What relayers still do for an account on one chain in the rolling 24 hours. */
export const gasRow = z.object({
  left_wei: bigintText,
  left_calls: z.int(),
  /** When the oldest part of what counts leaves the 24 hours. */
  resets_at: time.nullable(),
  least_usd_micros: bigintText,
})

/** The same for each chain with a relayer in service. */
export const relayedRows = z.array(gasRow.extend({ chain: z.int(), calls_per_day: z.int() }))

/** What api.begin_payment and api.payment_facts answer beside the payment. */
export const factsRow = z.object({
  version: z.int(),
  limits: limitsRow,
  /** Of who is about to pay. */
  caps: capsRow,
  /** Whether the caller is who asked for it, or the owner let any key pay it. */
  may_pay: z.boolean(),
  /** On the word of agents to this recipient; it limits what the owner does not know. */
  asserted_new_recipient: window,
  recipient_known: z.boolean(),
  similar_recipient: z.string().nullable(),
  device_known: z.boolean(),
  /** What the owner said, and the digest of the terms that it was about. */
  approval: z
    .object({
      decision: z.enum(['approved', 'declined']),
      digest: z.string(),
      level: z.enum(ownersLevels),
    })
    .nullable(),
  has_passkey: z.boolean(),
  /** Those that name the merchant or the payee, whatever their state. */
  mandates: z.array(
    mandateRow
      .extend({ payer: z.enum(payersUnder) })
      .transform((row) => ({ ...mandateFacts(row), payer: row.payer })),
  ),
  /** What was paid for the same resource before; empty, and null, where nothing was. */
  history,
  /** How its merchant would not be paid for it a moment ago. */
  refused_ways: z.array(refusedWay),
  reserved_atomic: bigintText,
  /** With the authorizations that may still be signed, so that each can be cancelled. */
  gas: gasRow.extend({
    left_cancels: z.int(),
    cancels_reset_at: time.nullable(),
    /** When what gas cost lately leaves room for it; null where it does now. */
    cheaper_at: time.nullable(),
    seen: gasSeenRow.nullable(),
  }),
  /** Unix seconds by the database's clock: a worker's own may be wrong. */
  now: z.int(),
  /** Relayers in service, with the transactions in flight from them and what they surely have left. */
  lanes: z.array(
    z.object({
      address: addressSchema,
      next_nonce: z.int(),
      open_wei: z.array(bigintText),
      left_wei: bigintText.nullable(),
    }),
  ),
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
