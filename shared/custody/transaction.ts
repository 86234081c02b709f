/**
 * The two transactions that custody signs: a relayer's call that carries an authorization, and a
 * wallet's own ERC-20 transfer. Both go to the token alone, move no native coin and are parsed from
 * their bytes again before they are answered. Whether the payment may be made is decided elsewhere.
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
  toHex,
} from 'viem'
import { signTransaction } from 'viem/accounts'
import { directTransferGas, relayedTransferGas } from '../chains/evm/fees.ts'
import type { SignedAuthorization, SignedTransaction } from './port.ts'
import {
  requireAddress,
  requireHex,
  requireSame,
  requireSigned,
  splitSignature,
} from './read-back.ts'

// FiatToken 2.0 and 2.1 have only this overload with v, r, s; 2.2 added one with a `bytes` signature
// beside it, so this is the one that every deployed USDC and EURC answers to.
const relayAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])
const transferAbi = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])

const selectorBytes = 4
const wordBytes = 32

/** The place of a transaction in its sender's order, and its price in wei per gas. */
export type TransactionSlot = {
  chainId: number
  nonce: number
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** A relayed payment. `token` is the contract that the authorization was signed for. */
export type RelayRequest = TransactionSlot & { token: string; authorization: SignedAuthorization }

/** A payment whose gas the wallet pays by itself. */
export type DirectTransferRequest = TransactionSlot & {
  token: string
  to: string
  valueAtomic: bigint
}

/** Signs the relayer's EIP-1559 transaction around an authorization. */
export async function signRelay(
  relayerKey: Uint8Array,
  request: RelayRequest,
): Promise<SignedTransaction> {
  const { authorization } = request
  const { v, r, s } = splitSignature(authorization.signature)
  const data = encodeFunctionData({
    abi: relayAbi,
    args: [
      requireAddress(authorization.from),
      requireAddress(authorization.to),
      BigInt(authorization.value),
      BigInt(authorization.validAfter),
      BigInt(authorization.validBefore),
      requireHex(authorization.nonce, 32),
      v,
      r,
      s,
    ],
  })
  const raw = await signCall(relayerKey, request, relayedTransferGas, data)
  await confirmRelay(relayerKey, request, raw)
  return { hash: keccak256(raw), raw }
}

/** Signs the wallet's EIP-1559 transaction that calls the token's `transfer`. */
export async function signDirectTransfer(
  walletKey: Uint8Array,
  request: DirectTransferRequest,
): Promise<SignedTransaction> {
  if (request.valueAtomic <= 0n) throw new Error('a transfer moves more than nothing')
  const data = encodeFunctionData({
    abi: transferAbi,
    args: [requireAddress(request.to), request.valueAtomic],
  })
  const raw = await signCall(walletKey, request, directTransferGas, data)
  await confirmDirectTransfer(walletKey, request, raw)
  return { hash: keccak256(raw), raw }
}

/** Throws unless the bytes are the key's transaction that relays exactly this authorization. */
export async function confirmRelay(
  key: Uint8Array,
  request: RelayRequest,
  raw: string,
): Promise<void> {
  const data = await confirmCall(key, request, relayedTransferGas, raw)
  const [from, to, value, validAfter, validBefore, nonce, v, r, s] = decodeFunctionData({
    abi: relayAbi,
    data: requireHex(data, selectorBytes + 9 * wordBytes),
  }).args
  const { signature, ...terms } = request.authorization
  requireSame(
    { ...terms, ...splitSignature(signature) },
    { from, to, value, validAfter, validBefore, nonce, v, r, s },
  )
}

/** Throws unless the bytes are the key's transaction that makes exactly this transfer. */
export async function confirmDirectTransfer(
  key: Uint8Array,
  request: DirectTransferRequest,
  raw: string,
): Promise<void> {
  const data = await confirmCall(key, request, directTransferGas, raw)
  const [to, value] = decodeFunctionData({
    abi: transferAbi,
    data: requireHex(data, selectorBytes + 2 * wordBytes),
  }).args
  requireSame({ to: request.to, value: request.valueAtomic }, { to, value })
}

type TokenCall = TransactionSlot & { token: string }

function signCall(key: Uint8Array, call: TokenCall, gas: bigint, data: Hex) {
  const { chainId, nonce, maxFeePerGas, maxPriorityFeePerGas } = call
  return signTransaction({
    privateKey: bytesToHex(key),
    transaction: {
      type: 'eip1559',
      chainId,
      nonce,
      maxFeePerGas,
      maxPriorityFeePerGas,
      gas,
      to: requireAddress(call.token),
      value: 0n,
      data,
    },
  })
}

/** Reads the bytes back, compares all but the call data, and answers the call data. */
async function confirmCall(
  key: Uint8Array,
  call: TokenCall,
  gas: bigint,
  raw: string,
): Promise<string> {
  if (!isEip1559(raw)) throw new Error('not an EIP-1559 transaction')
  const parsed = parseTransaction(raw)
  const { chainId, nonce, maxFeePerGas, maxPriorityFeePerGas } = call
  // RLP has no zero: an absent number is one.
  requireSame(
    {
      chainId,
      nonce,
      maxFeePerGas,
      maxPriorityFeePerGas,
      gas,
      to: call.token,
      value: 0n,
      accessed: 0,
    },
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

/** EIP-1559: the transaction type 0x02 comes before the RLP list. */
function isEip1559(raw: string): raw is `0x02${string}` {
  return raw.startsWith('0x02')
}
