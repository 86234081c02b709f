/**
 * Calls the ledger for custody about one payment: commits a decision and loads what is to be signed in one
 * transaction, and stores what was signed. Requests are parsed strictly; any other request is refused
 * before anything is looked up.
 */
import * as z from 'zod'
import { hexSchema, wordSchema } from '../chains/hex.ts'
import { consentRow } from '../consent/consent.ts'
import { mandateTermsRow } from '../consent/mandate-row.ts'
import { type ErrorCode, Rejection } from '../contract/errors.ts'
import { bindCredential } from '../db/database.ts'
import { bigintText } from '../money/row-fields.ts'
import { consentLevels } from '../policy/facts.ts'
import type { World } from '../world.ts'
import type { AuthorizeRequest, ConfirmRequest, GasPayerSeen, SignedPayment } from './port.ts'
import { costWei, feesAsked, gasPayersSeen, leasedSlotRow, type SignedSlot } from './relay.ts'

const unixSeconds = z.int().nonnegative()
const weiText = z.string().regex(/^[0-9]{1,78}$/)

/** Schema of a request to custody for a payment. */
export const authorizeRequest = z.strictObject({
  credential: z.string().regex(/^[0-9a-f]{64}$/),
  paymentId: z.uuid(),
  consentLevel: z.enum(consentLevels),
  mandateId: z.uuid().optional(),
  factsVersion: z.int(),
  fundsAtomic: z.string().regex(/^[0-9]{1,78}$/),
  seenBlock: z.int().nonnegative().optional(),
  validAfter: unixSeconds.optional(),
  validBefore: unixSeconds.optional(),
  isRepeat: z.boolean().optional(),
  allowanceNonce: z
    .string()
    .regex(/^[0-9]{1,78}$/)
    .optional(),
  relay: z
    .strictObject({
      chainId: z.int(),
      fees: feesAsked,
      gasFrom: z.enum(['relayer', 'wallet']),
      walletNonce: z.int().nonnegative(),
      walletWei: weiText,
      gasPayers: gasPayersSeen,
    })
    .optional(),
})

/** Schema of a confirmation. */
export const confirmRequest = authorizeRequest
  .pick({ credential: true, paymentId: true })
  .extend({ device: z.string() })

const payment = z.object({
  id: z.uuid(),
  account: z.uuid(),
  asked_by: z.uuid(),
  /** Key or app whose budget it counts against. */
  paid_by: z.uuid(),
  for_any_key: z.boolean(),
  remembers_payee: z.boolean(),
  remembered_device: z.string().nullable(),
  passes_daily_cap: z.boolean(),
  kind: z.enum(['transfer', 'x402']),
  state: z.enum(['authorized', 'signed', 'unknown', 'settled']),
  chain: z.int(),
  token: z.string(),
  wallet: z.string(),
  payee: z.string(),
  amount_atomic: bigintText,
  amount_usd_micros: bigintText,
  expires_at: z.iso.datetime({ offset: true }),
  terms: z.record(z.string(), z.unknown()),
  consent_level: z.enum(consentLevels),
  authorized_at: z.string(),
  mandate: z.uuid().nullable(),
  valid_after: z.int(),
  valid_before: z.int(),
  authorized_block: z.int().nullable(),
  authorization_nonce: wordSchema.nullable(),
  signature: z.string().nullable(),
  allowance_nonce: z.string().nullable(),
  allowance_signature: z.string().nullable(),
})

const answerRow = z.object({
  outcome: z.enum([
    'authorized',
    'stale',
    'insufficient_funds',
    'gas_budget',
    'insufficient_gas',
    'gas_payer_full',
    'closed',
    'expired',
    'not_found',
  ]),
  first: z.boolean().nullable(),
  payment_row: z
    .unknown()
    .transform((reported) => ({ reported, ...payment.parse(reported) }))
    .nullable(),
  wallet_envelope: z.unknown(),
  claim: leasedSlotRow.nullable(),
  transaction: z.object({ tx_hash: hexSchema, raw: hexSchema }).nullable(),
  /** Owner's consent that carries the payment, and the mandate that it was about. */
  consent: consentRow.nullable(),
  mandate_row: mandateTermsRow.nullable(),
})

/** Payment that the ledger authorized, with the sealed keys that sign it. */
export type AuthorizedRow = AnswerRow & { payment_row: NonNullable<AnswerRow['payment_row']> }
type AnswerRow = z.output<typeof answerRow>

/** Seconds for which one request may drive the sending before another may go on with the signature. */
const leaseSeconds = 45

/** Commits the decision of a request, or returns the code with which the caller is refused. */
export async function commitDecision(
  world: World,
  asked: AuthorizeRequest,
): Promise<AnswerRow | Refused> {
  const question = {
    payment: asked.paymentId,
    consent_level: asked.consentLevel,
    facts_version: asked.factsVersion,
    funds_atomic: asked.fundsAtomic,
    lease_seconds: leaseSeconds,
    ...(asked.validAfter === undefined ? {} : { valid_after: asked.validAfter }),
    ...(asked.validBefore === undefined ? {} : { valid_before: asked.validBefore }),
    ...(asked.seenBlock === undefined ? {} : { seen_block: asked.seenBlock }),
    ...(asked.mandateId === undefined ? {} : { mandate: asked.mandateId }),
    ...(asked.allowanceNonce === undefined ? {} : { allowance_nonce: asked.allowanceNonce }),
    ...(asked.isRepeat === undefined ? {} : { is_repeat: asked.isRepeat }),
    ...(asked.relay
      ? {
          cost_wei: costWei(asked.relay.chainId, asked.relay.fees, 1),
          gas_from: asked.relay.gasFrom,
          wallet_nonce: asked.relay.walletNonce,
          wallet_wei: asked.relay.walletWei,
          gas_payers: asked.relay.gasPayers,
        }
      : {}),
  }
  const ledger = bindCredential(world.db, asked.credential)
  return rowOrRefusal(ledger.one('custody_authorize', question, answerRow))
}

/** Commits a confirmation, likewise. */
export async function commitConfirmation(
  world: World,
  { credential, paymentId: payment, device }: ConfirmRequest,
): Promise<AnswerRow | Refused> {
  const question = { payment, device, lease_seconds: leaseSeconds }
  const ledger = bindCredential(world.db, credential)
  return rowOrRefusal(ledger.one('custody_confirm', question, answerRow))
}

type Refused = { refused: ErrorCode }

/** Returns a refusal by its code: an error's class does not survive the way between functions. */
async function rowOrRefusal<Row>(asking: Promise<Row | undefined>): Promise<Row | Refused> {
  try {
    const row = await asking
    if (!row) throw new Error('the ledger answered no row')
    return row
  } catch (error) {
    if (error instanceof Rejection) return { refused: error.refusal.refusal }
    throw error
  }
}

/** Gives up a payment that will not be signed: it is released and shown in the feed. */
export async function withdraw(world: World, payment: string): Promise<void> {
  await world.db.call('custody_withdraw', { payment })
}

const keptRow = z.object({ kept: z.boolean(), sent: z.boolean(), queued: z.boolean() })

/**
 * Stores what was signed and lets it out. `kept` is false if the payment moved on without this signature, was
 * stopped, was authorized too long ago to count, or lost the lease of the paying wallet (`own`). `sent` is
 * false if the transaction must not leave.
 */
export async function storeSignedPayment(
  world: World,
  credential: string,
  { id: payment, authorized_at }: Pick<AuthorizedRow['payment_row'], 'id' | 'authorized_at'>,
  authorization: SignedPayment,
  {
    own,
    gasPayers,
    signed,
  }: { own: boolean; gasPayers: GasPayerSeen[]; signed: SignedSlot | undefined },
): Promise<z.output<typeof keptRow> | Refused> {
  const question = {
    payment,
    authorized_at,
    own,
    gas_payers: gasPayers,
    authorization_nonce: authorization.nonce,
    signature: authorization.signature,
    allowance_signature: authorization.allowance?.signature ?? null,
    ...signed?.stored,
  }
  const ledger = bindCredential(world.db, credential)
  return rowOrRefusal(ledger.one('custody_record', question, keptRow))
}
