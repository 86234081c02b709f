/**
 * Signs one EIP-1559 transaction of a lane that calls a contract and moves no native coin, and reads it
 * back from its bytes. The caller confirms the call data.
 */
import {
  bytesToHex,
  concat,
  type Hex,
  keccak256,
  pad,
  parseTransaction,
  serializeTransaction,
  toHex,
} from 'viem'
import { signTransaction } from 'viem/accounts'
import type { SignedTransaction } from './port.ts'
import { requireAddress, requireSame, requireSigned } from './read-back.ts'

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
export async function signCall(key: Uint8Array, call: ContractCall): Promise<SignedTransaction> {
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
export async function confirmCall(
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
