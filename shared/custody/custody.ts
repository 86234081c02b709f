/**
 * Custody: commits a decision in the ledger, loads what the ledger then holds, signs exactly that
 * and stores it before answering. It takes a payment id and a credential, never a digest, an
 * amount or a transaction, so what it signs is what SQL authorized. It broadcasts nothing.
 */
import { assetOf } from '../chains/registry.ts'
import { required } from '../env.ts'
import type { World } from '../world.ts'
import { signAuthorization } from './authorization.ts'
import { readEnvelope, withKey } from './envelope.ts'
import type { AuthorizedRow } from './ledger.ts'
import { authorizeRequest, commitDecision, keepSigned } from './ledger.ts'
import { storedNonce } from './nonce.ts'
import type { AuthorizeAnswer, AuthorizeRequest, CustodyPort, SignedAuthorization } from './port.ts'
import type { Roots } from './roots.ts'
import { readRoots } from './roots.ts'
import { signDirectTransfer, signRelay } from './transaction.ts'

/** Opens custody over the world's database and root keys. */
export function openCustody(world: World): CustodyPort {
  let roots: Roots | undefined
  return {
    async authorize(request) {
      const asked = authorizeRequest.parse(request)
      roots ??= readRoots(required(world.config, 'CUSTODY_ROOT_KEYS'))
      const row = await commitDecision(world, asked)
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
  const isKept = await keepSigned(world, asked, row, { authorization, transaction })
  if (!isKept) throw new Error('another signature is kept for this payment')
  return {
    outcome: 'signed',
    first: true,
    ...(authorization ? { authorization } : {}),
    ...(transaction ? { transaction } : {}),
  }
}

function signTerms(roots: Roots, row: AuthorizedRow): Promise<SignedAuthorization> {
  const { account, wallet, payee, chain: chainId, token, amount_atomic } = row.payment_row
  const { token: known } = assetOf({ chain: chainId, token })
  const terms = {
    chainId,
    token: known.address,
    domain: known.domain,
    from: wallet,
    to: payee,
    valueAtomic: amount_atomic,
    validAfter: row.payment_row.valid_after,
    validBefore: row.payment_row.valid_before,
    nonce: storedNonce(row.payment_row),
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
