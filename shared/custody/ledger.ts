/**
 * Custody's two calls of the ledger: commit a decision and load what is to be signed in one
 * transaction, and keep what was signed. Requests are read strictly; whatever else is asked of
 * custody is refused before anything is looked up.
 */
import * as z from 'zod'
import { maxFeePerGasCeiling } from '../chains/evm/fees.ts'
import { hexSchema, wordSchema } from '../chains/hex.ts'
import type { ErrorCode } from '../contract/errors.ts'
import { Rejection } from '../contract/errors.ts'
import { bindCredential } from '../db/database.ts'
import { consentLevels } from '../policy/facts.ts'
import type { World } from '../world.ts'
import type { AuthorizeRequest, SignedAuthorization, SignedTransaction } from './port.ts'

const wei = z.string().regex(/^[1-9][0-9]{0,30}$/)
/** Whoever asks, a relayer's gas is not burned at an absurd price. */
const feePerGas = wei.refine((text) => BigInt(text) <= maxFeePerGasCeiling)
const unixSeconds = z.int().nonnegative()

/** What may be asked of custody. */
export const authorizeRequest = z.strictObject({
  credential: z.string().regex(/^[0-9a-f]{64}$/),
  paymentId: z.uuid(),
  consentLevel: z.enum(consentLevels),
  factsVersion: z.int(),
  fundsAtomic: z.string().regex(/^[0-9]{1,78}$/),
  seenBlock: z.int().nonnegative(),
  validAfter: unixSeconds,
  validBefore: unixSeconds,
  relay: z
    .strictObject({
      maxFeePerGas: feePerGas,
      maxPriorityFeePerGas: feePerGas,
      gasFrom: z.enum(['relayer', 'wallet']),
      walletNonce: z.int().nonnegative(),
    })
    .optional(),
})

const payment = z.object({
  id: z.uuid(),
  account: z.uuid(),
  kind: z.enum(['transfer', 'x402']),
  state: z.enum(['authorized', 'signed', 'unknown']),
  chain: z.int(),
  token: z.string(),
  wallet: z.string(),
  payee: z.string(),
  amount_atomic: z.string().transform(BigInt),
  terms: z.record(z.string(), z.unknown()),
  valid_after: z.int(),
  valid_before: z.int(),
  authorization_nonce: wordSchema.nullable(),
  signature: z.string().nullable(),
})

const answerRow = z.object({
  outcome: z.enum([
    'authorized',
    'stale',
    'insufficient_funds',
    'closed',
    'expired',
    'not_found',
    'no_relayer',
  ]),
  first: z.boolean().nullable(),
  payment_row: payment.nullable(),
  wallet_envelope: z.unknown(),
  slot: z.object({ id: z.int(), lane: z.string(), nonce: z.int() }).nullable(),
  lane_envelope: z.unknown(),
  transaction: z.object({ tx_hash: hexSchema, raw: hexSchema }).nullable(),
})

/** What the ledger authorized, with the sealed keys that sign it. */
export type AuthorizedRow = z.output<typeof answerRow> & { payment_row: z.output<typeof payment> }

/** How long one request may drive the sending before another may go on with the same signature. */
const leaseSeconds = 45

/** Commits the decision of a request, or answers the code with which the caller is turned away. */
export async function commitDecision(
  world: World,
  asked: AuthorizeRequest,
): Promise<z.output<typeof answerRow> | { refused: ErrorCode }> {
  const question = {
    payment: asked.paymentId,
    consent_level: asked.consentLevel,
    facts_version: asked.factsVersion,
    funds_atomic: asked.fundsAtomic,
    seen_block: asked.seenBlock,
    valid_after: asked.validAfter,
    valid_before: asked.validBefore,
    lease_seconds: leaseSeconds,
    ...(asked.relay
      ? { gas_from: asked.relay.gasFrom, wallet_nonce: asked.relay.walletNonce }
      : {}),
  }
  try {
    const ledger = bindCredential(world.db, asked.credential)
    const row = await ledger.one('custody_authorize', question, answerRow)
    if (!row) throw new Error('custody_authorize answered no row')
    return row
  } catch (error) {
    // A class does not survive the way between functions; its code does.
    if (error instanceof Rejection) return { refused: error.refusal.refusal }
    throw error
  }
}

/** Stores what was signed; false when another signature is kept already. */
export async function keepSigned(
  world: World,
  asked: AuthorizeRequest,
  row: AuthorizedRow,
  signed: {
    authorization: SignedAuthorization | undefined
    transaction: SignedTransaction | undefined
  },
): Promise<boolean> {
  const { authorization, transaction } = signed
  const kept = await world.db.call('custody_record', {
    payment: row.payment_row.id,
    ...(authorization
      ? { authorization_nonce: authorization.nonce, signature: authorization.signature }
      : {}),
    ...(transaction && row.slot && asked.relay
      ? {
          slot: row.slot.id,
          tx_hash: transaction.hash,
          raw: transaction.raw,
          max_fee_per_gas: asked.relay.maxFeePerGas,
          max_priority_fee_per_gas: asked.relay.maxPriorityFeePerGas,
        }
      : {}),
  })
  return kept === true
}
