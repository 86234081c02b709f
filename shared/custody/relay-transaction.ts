/**
 * A lane's transaction around signed authorizations: one call goes to its token, several go
 * through Multicall3 with a failure of one leaving the others as they are, and none at all is the
 * lane calling itself, which fills a gap. It moves nothing of the lane's but gas.
 */
import { decodeFunctionData, encodeFunctionData, type Hex, parseAbi, size } from 'viem'
import { relayGas } from '../chains/evm/fees.ts'
import { multicall3Address } from '../chains/evm/places.ts'
import type { TransactionSlot } from './call.ts'
import { confirmCall, signCall } from './call.ts'
import type { SignedAuthorization, SignedTransaction } from './port.ts'
import { requireAddress, requireHex, requireSame, splitSignature } from './read-back.ts'

// FiatToken 2.0 and 2.1 have only these overloads with v, r, s; 2.2 added ones with a `bytes` signature
// beside them, so these are what every deployed USDC and EURC answers to.
const transferAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])
const cancelAbi = parseAbi([
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

/** https://github.com/mds1/multicall3 */
const batchAbi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'function aggregate3(Call[] calls) payable',
])

const selectorBytes = 4
const wordBytes = 32

/** One signed call of a token: a payment, or the end of an authorization (EIP-3009). */
export type RelayCall = { token: string } & (
  | { kind: 'transfer'; authorization: SignedAuthorization }
  | { kind: 'cancel'; authorizer: string; nonce: string; signature: string }
)

/** What goes into one place of a lane. */
export type RelayRequest = TransactionSlot & { lane: string; calls: readonly RelayCall[] }

/** Signs the lane's EIP-1559 transaction around the calls. */
export async function signRelay(
  relayerKey: Uint8Array,
  request: RelayRequest,
): Promise<SignedTransaction> {
  const { to, data } = targetOf(request)
  const signed = await signCall(relayerKey, { ...placeOf(request), to, data })
  await confirmRelay(relayerKey, request, signed.raw)
  return signed
}

/** Throws unless the bytes are the key's transaction that carries exactly these calls. */
export async function confirmRelay(
  key: Uint8Array,
  request: RelayRequest,
  raw: string,
): Promise<void> {
  const [only, ...others] = request.calls
  const { to, data: expected } = targetOf(request)
  const read = await confirmCall(key, { ...placeOf(request), to }, raw)
  const data = requireHex(read, size(expected))
  if (!only) return
  if (others.length === 0) return confirmOne(only, data)
  const [inner] = decodeFunctionData({ abi: batchAbi, data }).args
  requireSame({ calls: request.calls.length }, { calls: inner.length })
  request.calls.forEach((call, index) => {
    const { target, allowFailure, callData = '' } = inner[index] ?? {}
    requireSame({ target: call.token, mayFail: 'true' }, { target, mayFail: String(allowFailure) })
    confirmOne(call, callData)
  })
}

function placeOf({ chainId, nonce, maxFeePerGas, maxPriorityFeePerGas, calls }: RelayRequest) {
  const gas = relayGas(chainId, calls.length)
  return { chainId, nonce, maxFeePerGas, maxPriorityFeePerGas, gas }
}

function targetOf({ lane, calls }: RelayRequest): { to: string; data: Hex } {
  const [only, ...others] = calls
  if (!only) return { to: lane, data: '0x' }
  if (others.length === 0) return { to: only.token, data: encodeCall(only) }
  const tried = calls.map((call) => ({
    target: requireAddress(call.token),
    allowFailure: true,
    callData: encodeCall(call),
  }))
  const data = encodeFunctionData({ abi: batchAbi, args: [tried] })
  return { to: multicall3Address, data }
}

/** A call as it goes to its token; throws where it says what no token could read. */
export function encodeCall(call: RelayCall): Hex {
  if (call.kind === 'cancel') {
    const { v, r, s } = splitSignature(call.signature)
    const args = [requireAddress(call.authorizer), requireHex(call.nonce, 32), v, r, s] as const
    return encodeFunctionData({ abi: cancelAbi, args })
  }
  const { from, to, value, validAfter, validBefore, nonce, signature } = call.authorization
  const { v, r, s } = splitSignature(signature)
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
  const words = call.kind === 'cancel' ? 5 : 9
  const data = requireHex(text, selectorBytes + words * wordBytes)
  if (call.kind === 'cancel') {
    const [authorizer, nonce, v, r, s] = decodeFunctionData({ abi: cancelAbi, data }).args
    const asked = { authorizer: call.authorizer, nonce: call.nonce }
    requireSame({ ...asked, ...splitSignature(call.signature) }, { authorizer, nonce, v, r, s })
    return
  }
  const { signature, ...terms } = call.authorization
  const { args } = decodeFunctionData({ abi: transferAbi, data })
  const [from, to, value, validAfter, validBefore, nonce, v, r, s] = args
  requireSame(
    { ...terms, ...splitSignature(signature) },
    { from, to, value, validAfter, validBefore, nonce, v, r, s },
  )
}
