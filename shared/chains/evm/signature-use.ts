/**
 * Asks whether signatures were used: the token (EIP-3009) and Permit2 keep the nonces of those that were. A
 * nonce stays used for good.
 */
import { encodeFunctionData } from 'viem/utils'
import type { Address } from '../chain.ts'
import { type Hex, readWord } from '../hex.ts'
import { permit2Abi, tokenAbi } from './abi.ts'
import type { InnerCall } from './rpc/multicall.ts'

import { permit2Address } from './rpc/places.ts'

/** A wallet's signature, by its nonce. */
export type SignatureNonce = { wallet: Address; token: Address; nonce: Hex; isPermit: boolean }

/** Makes the inner call that reads whether it was used. */
export function useCall({ wallet, token, nonce, isPermit }: SignatureNonce): InnerCall {
  if (isPermit) {
    const args = [wallet, BigInt(nonce) >> 8n] as const
    const callData = encodeFunctionData({ abi: permit2Abi, functionName: 'nonceBitmap', args })
    return { target: permit2Address, callData }
  }
  const args = [wallet, nonce] as const
  const functionName = 'authorizationState'
  return { target: token, callData: encodeFunctionData({ abi: tokenAbi, functionName, args }) }
}

/** Reads the answer to `useCall`; undefined if invalid. */
export function readUsed(
  { nonce, isPermit }: SignatureNonce,
  answer: Hex | undefined,
): boolean | undefined {
  const word = readWord(answer)
  if (word === undefined) return undefined
  return isPermit ? ((word >> (BigInt(nonce) & 255n)) & 1n) === 1n : word === 1n
}

/** A signature whose amount is reserved, as it is not known to be in a block. */
export type OpenSignature = SignatureNonce & { amountAtomic: bigint }

/**
 * Adds up the amounts of those that were used, from the answers to `useCall`. The balance of the same block is
 * smaller by them already, so it is compared with what is reserved only after they were added.
 */
export function sumUsed(
  open: readonly OpenSignature[],
  answers: readonly (Hex | undefined)[],
): bigint {
  return open
    .filter((one, at) => readUsed(one, answers[at]) === true)
    .reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)
}
