/**
 * Makes a gas payer's transaction around signed authorizations. One call goes to its token, or to the payee that
 * carries out an order with the money. Several go through
 * Multicall3, where a failure of one leaves the others as they are. With none, the gas payer calls itself, which
 * fills a gap. The transaction costs the gas payer nothing but gas.
 */
import {
  bytesToHex,
  concat,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  keccak256,
  pad,
  parseAbi,
  parseTransaction,
  serializeTransaction,
  size,
  toHex,
} from 'viem'
import { signTransaction } from 'viem/accounts'
import * as z from 'zod'
import { relayGas } from '../chains/evm/gas.ts'
import { multicall3Address } from '../chains/evm/rpc/places.ts'
import { hexSchema } from '../chains/hex.ts'
import { authorizationNonce, type StoredPayment } from './nonce.ts'
import { callUnits, committedNonce, formOf } from './payment-form.ts'
import type { SignedAuthorization, SignedTransaction } from './port.ts'
import {
  requireAddress,
  requireHex,
  requireSame,
  requireSigned,
  splitSignature,
} from './read-back.ts'

// FiatToken 2.0 and 2.1 have only these overloads with v, r, s; 2.2 added ones with a `bytes` signature
// beside them. So every deployed USDC and EURC answers to these.
const transferAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])
const carryAbi = parseAbi([
  'struct Authorization { address from; uint256 value; uint256 validAfter; uint256 validBefore; bytes32 base; uint8 v; bytes32 r; bytes32 s; }',
  'function carry(Authorization held, bytes order)',
])

/** ABI of https://github.com/mds1/multicall3 */
const batchAbi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'function aggregate3(Call[] calls) payable',
])

const selectorBytes = 4
const wordBytes = 32
const transferWords = 9

/** Order that a payee carries out, and the payment's own nonce before it commits to the order. */
type Carried = { base: string; order: Hex }

/** Signed call of a token that carries a payment (EIP-3009). */
export type RelayCall = { token: string; authorization: SignedAuthorization; carried?: Carried }

/** Content of one slot of a gas payer. */
export type RelayTransactionTerms = TransactionSlot & {
  gasPayer: string
  calls: readonly RelayCall[]
}

/** Signs the gas payer's EIP-1559 transaction around the calls. */
export async function signRelay(
  relayerKey: Uint8Array,
  terms: RelayTransactionTerms,
): Promise<SignedTransaction> {
  const { to, data } = targetOf(terms)
  const signed = await signCall(relayerKey, { ...transactionFieldsOf(terms), to, data })
  await confirmRelay(relayerKey, terms, signed.raw)
  return signed
}

/** Throws unless the bytes are the key's transaction that carries exactly these calls. */
export async function confirmRelay(
  key: Uint8Array,
  terms: RelayTransactionTerms,
  raw: string,
): Promise<void> {
  const [only, ...others] = terms.calls
  const { to, data: expected } = targetOf(terms)
  const read = await confirmCall(key, { ...transactionFieldsOf(terms), to }, raw)
  const data = requireHex(read, size(expected))
  if (!only) return
  if (others.length === 0) return confirmOne(only, data)
  const [inner] = decodeFunctionData({ abi: batchAbi, data }).args
  requireSame({ calls: terms.calls.length }, { calls: inner.length })
  terms.calls.forEach((call, index) => {
    const { target, allowFailure, callData = '' } = inner[index] ?? {}
    requireSame(
      { target: contractOf(call), mayFail: 'true' },
      { target, mayFail: String(allowFailure) },
    )
    confirmOne(call, callData)
  })
}

function transactionFieldsOf({
  chainId,
  nonce,
  maxFeePerGas,
  maxPriorityFeePerGas,
  calls,
}: RelayTransactionTerms) {
  const gas = relayGas(chainId, unitsOf(calls))
  return { chainId, nonce, maxFeePerGas, maxPriorityFeePerGas, gas }
}

function targetOf({ gasPayer, calls }: RelayTransactionTerms): { to: string; data: Hex } {
  const [only, ...others] = calls
  if (!only) return { to: gasPayer, data: '0x' }
  if (others.length === 0) return { to: contractOf(only), data: encodeCall(only) }
  const tried = calls.map((call) => ({
    target: requireAddress(contractOf(call)),
    allowFailure: true,
    callData: encodeCall(call),
  }))
  const data = encodeFunctionData({ abi: batchAbi, args: [tried] })
  return { to: multicall3Address, data }
}

/** Returns how many calls a transaction with these counts as; see `callUnits`. */
export function unitsOf(calls: readonly RelayCall[]): number {
  return calls.reduce((sum, { carried }) => sum + callUnits(carried !== undefined), 0)
}

/** Returns the contract that a call goes to. */
function contractOf({ token, authorization, carried }: RelayCall): string {
  return carried ? authorization.to : token
}

/** Encodes a call for its contract. Throws if no contract could read it. */
export function encodeCall(call: RelayCall): Hex {
  const { from, to, value, validAfter, validBefore, nonce, signature } = call.authorization
  const { v, r, s } = splitSignature(signature)
  if (call.carried) {
    const times = { validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) }
    const base = requireHex(call.carried.base, 32)
    const held = { from: requireAddress(from), value: BigInt(value), ...times, base, v, r, s }
    return encodeFunctionData({ abi: carryAbi, args: [held, call.carried.order] })
  }
  return encodeFunctionData({
    abi: transferAbi,
    args: [
      requireAddress(from),
      requireAddress(to),
      BigInt(value),
      BigInt(validAfter),
      BigInt(validBefore),
      requireHex(nonce, 32),
      v,
      r,
      s,
    ],
  })
}

function confirmOne(call: RelayCall, text: string): void {
  if (call.carried) return confirmCarried(call.carried, call, text)
  const data = requireHex(text, selectorBytes + transferWords * wordBytes)
  const { signature, ...terms } = call.authorization
  const { args } = decodeFunctionData({ abi: transferAbi, data })
  const [from, to, value, validAfter, validBefore, nonce, v, r, s] = args
  requireSame(
    { ...terms, ...splitSignature(signature) },
    { from, to, value, validAfter, validBefore, nonce, v, r, s },
  )
}

function confirmCarried(
  { base, order }: Carried,
  { authorization }: { authorization: SignedAuthorization },
  text: string,
): void {
  const { args } = decodeFunctionData({ abi: carryAbi, data: hexSchema.parse(text) })
  const [{ v, r, s, ...held }, carried] = args
  const { to: _payee, nonce, signature, ...terms } = authorization
  requireSame(
    { ...terms, base, order, nonce, ...splitSignature(signature) },
    {
      ...held,
      order: carried,
      nonce: committedNonce(held.base, carried),
      v,
      r,
      s,
    },
  )
}

/** Chain and nonce of a transaction, and its price in wei per gas. */
export type TransactionSlot = {
  chainId: number
  nonce: number
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** Contract that is called with some data, and the gas limit. */
export type ContractCall = TransactionSlot & { to: string; gas: bigint; data: Hex }

/** Signs the call with the sender's key. */
async function signCall(key: Uint8Array, call: ContractCall): Promise<SignedTransaction> {
  const { chainId, nonce, maxFeePerGas, maxPriorityFeePerGas, gas, data } = call
  const to = requireAddress(call.to)
  const raw = await signTransaction({
    privateKey: bytesToHex(key),
    transaction: {
      type: 'eip1559',
      chainId,
      nonce,
      maxFeePerGas,
      maxPriorityFeePerGas,
      gas,
      to,
      value: 0n,
      data,
    },
  })
  return { hash: keccak256(raw), raw }
}

/** Reads the bytes back, compares everything but the call data, and returns the call data. */
async function confirmCall(
  key: Uint8Array,
  asked: Omit<ContractCall, 'data'>,
  raw: string,
): Promise<string> {
  if (!isEip1559(raw)) throw new Error('not an EIP-1559 transaction')
  const parsed = parseTransaction(raw)
  const { chainId, nonce, maxFeePerGas, maxPriorityFeePerGas, gas, to } = asked
  // RLP has no zero: an absent number is zero.
  requireSame(
    { chainId, nonce, maxFeePerGas, maxPriorityFeePerGas, gas, to, value: 0n, accessed: 0 },
    {
      chainId: parsed.chainId,
      nonce: parsed.nonce ?? 0,
      maxFeePerGas: parsed.maxFeePerGas ?? 0n,
      maxPriorityFeePerGas: parsed.maxPriorityFeePerGas ?? 0n,
      gas: parsed.gas,
      to: parsed.to ?? undefined,
      value: parsed.value ?? 0n,
      accessed: parsed.accessList?.length ?? 0,
    },
  )
  const { r = '0x', s = '0x', yParity = 0, ...unsigned } = parsed
  const signature = concat([pad(r, { size: 32 }), pad(s, { size: 32 }), toHex(27 + yParity)])
  await requireSigned(key, keccak256(serializeTransaction(unsigned)), signature)
  return parsed.data ?? '0x'
}

/** True for an EIP-1559 transaction: its type 0x02 comes before the RLP list. */
function isEip1559(raw: string): raw is `0x02${string}` {
  return raw.startsWith('0x02')
}

/** Call as the ledger returns it. */
export const callRow = z.object({
  payment: z.uuid(),
  token: z.string(),
  from: z.string(),
  to: z.string(),
  value: z.string(),
  valid_after: z.int(),
  valid_before: z.int(),
  nonce: z.string(),
  signature: z.string(),
  carrier: z.object({ chain: z.int(), order: hexSchema }).nullish(),
})

/** Parsed call. */
export type CallRow = z.output<typeof callRow>

/** Converts a call of the ledger to a signed call of its token. */
export function callOf({ token, from, to, value, ...row }: CallRow): RelayCall {
  const { nonce, signature } = row
  const validAfter = String(row.valid_after)
  const validBefore = String(row.valid_before)
  const authorization = { from, to, value, validAfter, validBefore, nonce, signature }
  if (!row.carrier) return { token, authorization }
  const { chain: chainId, order } = row.carrier
  const base = authorizationNonce({ chainId, token, paymentId: row.payment })
  return { token, authorization, carried: { base, order } }
}

/** Returns the call that carries a payment which was just signed. */
export function ownCall(
  { id: paymentId, chain: chainId, token, terms }: StoredPayment,
  authorization: SignedAuthorization,
): RelayCall {
  const form = formOf(terms)
  const base = authorizationNonce({ chainId, token, paymentId })
  if (form.kind !== 'order') return { token, authorization }
  return { token, authorization, carried: { base, order: form.order } }
}
