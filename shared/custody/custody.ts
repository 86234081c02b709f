/**
 * Commits a decision in the ledger, loads what the ledger then holds, signs exactly that and stores it
 * before answering. Custody takes a payment id and a credential, never a digest, an amount or a
 * transaction, so what it signs is what SQL authorized. It broadcasts nothing.
 */
import { Rejection } from '../contract/errors.ts'
import { unbound } from '../db/database.ts'
import { required } from '../env.ts'
import { openSecret } from '../kms.ts'
import { type Roots, readRoots } from '../sealing/roots.ts'
import type { World } from '../world.ts'
import { createCustodyAccount } from './accounts.ts'
import { faultOf } from './consent.ts'
import {
  type AuthorizedRow,
  authorizeRequest,
  commitConfirmation,
  commitDecision,
  confirmRequest,
  storeSignedPayment,
  withdraw,
} from './ledger.ts'
import type {
  AuthorizeAnswer,
  AuthorizeRequest,
  ConfirmRequest,
  CustodyPort,
  SignedPayment,
} from './port.ts'
import { relayQueued, replaceSlot, type SignedSlot, setAsideBad, signLeasedSlot } from './relay.ts'
import { ownCall } from './relay-transaction.ts'
import { signPayment } from './sign-payment.ts'

/** Opens custody over the world's database and root keys. */
export function openCustody(world: World): CustodyPort {
  const roots = () => rootsOf(world)
  return {
    authorize: async (request) => authorize(world, await roots(), authorizeRequest.parse(request)),
    confirm: async (request) => confirm(world, await roots(), confirmRequest.parse(request)),
    relay: async (request) => relayQueued(world, await roots(), request),
    replace: async (request) => replaceSlot(world, await roots(), request),
    openAccount: async (request) => createCustodyAccount(world, await roots(), request),
    ready: async () => {
      await roots()
      await unbound(world.db).run('custody_ready', {})
    },
  }
}

function causeOf(error: unknown): string {
  return error instanceof Rejection ? (error.refusal.log ?? error.message) : String(error)
}

/** Roots that this isolate opened last, by their binding: a KMS is asked once. */
let opened: { text: string; roots: Roots } | undefined

async function rootsOf(world: World): Promise<Roots> {
  const text = required(world.config, 'CUSTODY_ROOT_KEYS')
  if (opened?.text === text) return opened.roots
  const secret = await openSecret(world, 'CUSTODY_ROOT_KEYS', text).catch((error: unknown) => {
    // The caller hears no more than that custody is unavailable.
    world.log({ work: 'custody', log: causeOf(error) })
    throw error
  })
  const roots = readRoots(secret, 'custody')
  opened = { text, roots }
  return roots
}

async function authorize(
  world: World,
  roots: Roots,
  asked: AuthorizeRequest,
): Promise<AuthorizeAnswer> {
  return signCommitted(world, roots, asked, await commitDecision(world, asked))
}

async function confirm(
  world: World,
  roots: Roots,
  asked: ConfirmRequest,
): Promise<AuthorizeAnswer> {
  const row = await commitConfirmation(world, asked)
  const answer = await signCommitted(world, roots, asked, row)
  const isSigned = answer.outcome === 'signed' && !('refused' in row)
  return isSigned ? { ...answer, row: row.payment_row?.reported } : answer
}

/** Caller of a request, with the transaction that may carry the payment. */
type Asker = Pick<AuthorizeRequest, 'credential' | 'relay'>

/** Signs what the ledger has reserved for a request, or returns why it did not. */
async function signCommitted(
  world: World,
  roots: Roots,
  asked: Asker,
  row: Awaited<ReturnType<typeof commitDecision>>,
): Promise<AuthorizeAnswer> {
  if ('refused' in row) return { outcome: 'refused', code: row.refused }
  if (row.outcome !== 'authorized') return { outcome: row.outcome }
  const { payment_row: loaded } = row
  if (!loaded) throw new Error('an authorized payment came without its row')
  const authorized = { ...row, payment_row: loaded }
  const isStored = loaded.state !== 'authorized'
  if (isStored || !row.first) return storedAnswer(authorized)
  const fault = await faultOf(world, authorized)
  if (fault) return refuseSigning(world, loaded.id, fault)
  return sign(world, roots, asked, authorized)
}

/** Refuses a payment: nothing is signed and nothing stays reserved. Only the operator sees the reason. */
async function refuseSigning(
  world: World,
  payment: string,
  fault: string,
): Promise<AuthorizeAnswer> {
  await withdraw(world, payment)
  world.log({ work: 'custody', payment, log: fault })
  return { outcome: 'refused', code: 'consent_invalid' }
}

/**
 * Returns what was signed for the payment before. A queued transfer may need somebody to relay it; one that is in
 * a transaction needs nobody, since housekeeping sends that again.
 */
function storedAnswer(row: AuthorizedRow): AuthorizeAnswer {
  const stored = row.payment_row
  const { authorization_nonce: nonce, signature } = stored
  return {
    outcome: 'signed',
    first: row.first === true && row.transaction === null,
    authorizedBlock: stored.authorized_block,
    ...(nonce !== null && signature !== null
      ? { authorization: { ...authorizationTerms(stored), nonce, signature } }
      : {}),
    ...(row.transaction
      ? { transaction: { hash: row.transaction.tx_hash, raw: row.transaction.raw } }
      : {}),
    queued: stored.kind === 'transfer' && row.transaction === null,
  }
}

function authorizationTerms(loaded: AuthorizedRow['payment_row']) {
  const { allowance_nonce: nonce, allowance_signature: signature } = loaded
  return {
    from: loaded.wallet,
    to: loaded.payee,
    value: loaded.amount_atomic.toString(),
    validAfter: loaded.valid_after.toString(),
    validBefore: loaded.valid_before.toString(),
    ...(nonce !== null && signature !== null ? { allowance: { nonce, signature } } : {}),
  }
}

async function sign(
  world: World,
  roots: Roots,
  asked: Asker,
  row: AuthorizedRow,
): Promise<AuthorizeAnswer> {
  const authorization = await signPayment(roots, row)
  const signed = await signTransaction(world, roots, asked, row, authorization)
  const isWalletGasPayer = asked.relay?.gasFrom === 'wallet'
  const kept = await storeSignedPayment(world, asked.credential, row.payment_row, authorization, {
    own: isWalletGasPayer,
    gasPayers: asked.relay?.gasPayers ?? [],
    signed,
  })
  if ('refused' in kept) return { outcome: 'refused', code: kept.refused }
  if (!kept.kept) return { outcome: 'closed' }
  return {
    outcome: 'signed',
    first: true,
    authorizedBlock: row.payment_row.authorized_block,
    authorization,
    ...(signed && kept.sent ? { transaction: signed.transaction } : {}),
    queued: kept.queued,
  }
}

/** Signs the transaction for a free slot. Without a slot the authorization is queued alone. */
async function signTransaction(
  world: World,
  roots: Roots,
  { relay }: Asker,
  { claim: row, payment_row: payment }: AuthorizedRow,
  authorization: SignedPayment,
): Promise<SignedSlot | undefined> {
  if (!row || !relay) return undefined
  const slot = await setAsideBad(world, row, true)
  return signLeasedSlot(world, roots, slot, relay.fees, [ownCall(payment, authorization)])
}
