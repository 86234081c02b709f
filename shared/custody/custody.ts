/**
 * Custody: commits a decision in the ledger, loads what the ledger then holds, signs exactly that
 * and stores it before answering. It takes a payment id and a credential, never a digest, an
 * amount or a transaction, so what it signs is what SQL authorized. It broadcasts nothing.
 */
import * as z from 'zod'
import { hexSchema, wordSchema } from '../chains/hex.ts'
import { findChain, tokenByAddress } from '../chains/registry.ts'
import { Rejection } from '../contract/errors.ts'

import { required } from '../env.ts'
import { consentLevels } from '../policy/facts.ts'
import type { World } from '../world.ts'
import { signAuthorization } from './authorization.ts'
import { readEnvelope, withKey } from './envelope.ts'
import { authorizationNonce } from './nonce.ts'
import type {
  AuthorizeAnswer,
  AuthorizeRequest,
  CustodyPort,
  SignedAuthorization,
  SignedTransaction,
} from './port.ts'
import type { Roots } from './roots.ts'
import { readRoots } from './roots.ts'
import { signDirectTransfer, signRelay } from './transaction.ts'

const wei = z.string().regex(/^[1-9][0-9]{0,30}$/)
const unixSeconds = z.int().nonnegative()

/** Strict: whatever else is asked of custody is refused before anything is looked up. */
const authorizeRequest = z.strictObject({
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
      maxFeePerGas: wei,
      maxPriorityFeePerGas: wei,
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

type AuthorizedRow = z.output<typeof answerRow> & { payment_row: z.output<typeof payment> }

/** How long one request may drive the sending before another may go on with the same signature. */
const leaseSeconds = 45

/** Opens custody over the world's database and root keys. */
export function openCustody(world: World): CustodyPort {
  let roots: Roots | undefined
  return {
    async authorize(request) {
      const asked = authorizeRequest.parse(request)
      roots ??= readRoots(required(world.config, 'CUSTODY_ROOT_KEYS'))
      const row = await commit(world, asked)
      if ('refused' in row) return { outcome: 'refused', code: row.refused }
      if (row.outcome !== 'authorized') return { outcome: row.outcome }
      const { payment_row: loaded } = row
      if (!loaded) throw new Error('an authorized payment came without its row')
      const authorized = { ...row, payment_row: loaded }
      const isStored = loaded.state !== 'authorized'
      if (isStored || !row.first) return storedAnswer(authorized)
      return sign(world, roots, asked, authorized)
    },
  }
}

async function commit(world: World, asked: z.output<typeof authorizeRequest>) {
  const question = {
    credential: asked.credential,
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
    const rows = z.array(answerRow).parse(await world.db.call('custody_authorize', question))
    const [row] = rows
    if (!row) throw new Error('custody_authorize answered no row')
    return row
  } catch (error) {
    // A class does not survive the way between functions; its code does.
    if (error instanceof Rejection) return { refused: error.refusal.refusal }
    throw error
  }
}

function storedAnswer(row: AuthorizedRow): AuthorizeAnswer {
  const stored = row.payment_row
  const { authorization_nonce: nonce, signature } = stored
  return {
    outcome: 'signed',
    first: row.first === true,
    ...(nonce !== null && signature !== null
      ? { authorization: { ...authorizationTerms(stored), nonce, signature } }
      : {}),
    ...(row.transaction
      ? { transaction: { hash: row.transaction.tx_hash, raw: row.transaction.raw } }
      : {}),
  }
}

function authorizationTerms(loaded: AuthorizedRow['payment_row']) {
  return {
    from: loaded.wallet,
    to: loaded.payee,
    value: loaded.amount_atomic.toString(),
    validAfter: loaded.valid_after.toString(),
    validBefore: loaded.valid_before.toString(),
  }
}

async function sign(
  world: World,
  roots: Roots,
  asked: AuthorizeRequest,
  row: AuthorizedRow,
): Promise<AuthorizeAnswer> {
  const isDirect = row.slot?.lane === row.payment_row.wallet
  const authorization = isDirect ? undefined : await signTerms(roots, row)
  const transaction = row.slot ? await signTransaction(roots, asked, row, authorization) : undefined
  const isKept = await keep(world, asked, row, authorization, transaction)
  if (!isKept) throw new Error('another signature is kept for this payment')
  return {
    outcome: 'signed',
    first: true,
    ...(authorization ? { authorization } : {}),
    ...(transaction ? { transaction } : {}),
  }
}

function signTerms(roots: Roots, row: AuthorizedRow): Promise<SignedAuthorization> {
  const { account, wallet, payee, chain: chainId, token, id, amount_atomic } = row.payment_row
  const chain = findChain(`eip155:${chainId}`)
  const known = chain && tokenByAddress(chain, token)
  if (!known) throw new Error(`no token ${token} on ${chainId}`)
  const terms = {
    chainId,
    token: known.address,
    domain: known.domain,
    from: wallet,
    to: payee,
    valueAtomic: amount_atomic,
    validAfter: row.payment_row.valid_after,
    validBefore: row.payment_row.valid_before,
    nonce: authorizationNonce({ chainId, token, paymentId: id }),
  }
  const envelope = readEnvelope(row.wallet_envelope)
  return withKey(roots, { account, address: wallet }, envelope, (key) =>
    signAuthorization(key, terms),
  )
}

function signTransaction(
  roots: Roots,
  asked: AuthorizeRequest,
  row: AuthorizedRow,
  authorization: SignedAuthorization | undefined,
) {
  const { account, chain: chainId, token, payee, wallet, amount_atomic } = row.payment_row
  if (!row.slot || !asked.relay) throw new Error('a transfer is signed with its slot and fees')
  const place = {
    chainId,
    nonce: row.slot.nonce,
    maxFeePerGas: BigInt(asked.relay.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(asked.relay.maxPriorityFeePerGas),
    token,
  }
  if (!authorization) {
    const envelope = readEnvelope(row.wallet_envelope)
    return withKey(roots, { account, address: wallet }, envelope, (key) =>
      signDirectTransfer(key, { ...place, to: payee, valueAtomic: amount_atomic }),
    )
  }
  const binding = { account: 'relayer', address: row.slot.lane }
  return withKey(roots, binding, readEnvelope(row.lane_envelope), (key) =>
    signRelay(key, { ...place, authorization }),
  )
}

async function keep(
  world: World,
  asked: AuthorizeRequest,
  row: AuthorizedRow,
  authorization?: SignedAuthorization,
  transaction?: SignedTransaction,
): Promise<boolean> {
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
