/**
 * A wallet's own ERC-20 transfer, for which it pays the gas itself. Whether the payment may be made
 * is decided elsewhere.
 */
import { decodeFunctionData, encodeFunctionData, parseAbi } from 'viem'
import { directTransferGas } from '../chains/evm/fees.ts'
import type { TransactionSlot } from './call.ts'
import { confirmCall, signCall } from './call.ts'
import type { SignedTransaction } from './port.ts'
import { requireAddress, requireHex, requireSame } from './read-back.ts'

const transferAbi = parseAbi(['function transfer(address to, uint256 value) returns (bool)'])

const selectorBytes = 4
const wordBytes = 32

/** A payment whose gas the wallet pays by itself. */
export type DirectTransferRequest = TransactionSlot & {
  token: string
  to: string
  valueAtomic: bigint
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
  const signed = await signCall(walletKey, { ...placeOf(request), data })
  await confirmDirectTransfer(walletKey, request, signed.raw)
  return signed
}

/** Throws unless the bytes are the key's transaction that makes exactly this transfer. */
export async function confirmDirectTransfer(
  key: Uint8Array,
  request: DirectTransferRequest,
  raw: string,
): Promise<void> {
  const data = await confirmCall(key, placeOf(request), raw)
  const [to, value] = decodeFunctionData({
    abi: transferAbi,
    data: requireHex(data, selectorBytes + 2 * wordBytes),
  }).args
  requireSame({ to: request.to, value: request.valueAtomic }, { to, value })
}

function placeOf(request: DirectTransferRequest) {
  const { chainId, nonce, maxFeePerGas, maxPriorityFeePerGas, token: to } = request
  return { chainId, nonce, maxFeePerGas, maxPriorityFeePerGas, to, gas: directTransferGas }
}
