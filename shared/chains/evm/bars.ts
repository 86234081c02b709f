/**
 * Reads the issuer's own bars on a stablecoin (FiatToken): a paused token and blocked addresses. They are
 * read together with the facts of the decision, so that nothing is signed that could not settle.
 */

import { encodeFunctionData } from 'viem/utils'
import type { Address, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { readWord } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import type { InnerCall } from './rpc/multicall.ts'

/** Reason why the token would not move now, if any. */
export type Barred = 'paused' | 'payer' | 'payee'

/** The token, payer and payee of a payment. */
export type Parties = { token: Token; wallet: Address; payee: Address }

const causes = ['paused', 'payer', 'payee'] as const

/** Makes the inner calls that read the bars, one for each cause. */
export function barCalls({ token, wallet, payee }: Parties): [InnerCall, InnerCall, InnerCall] {
  const callData = encodeFunctionData({ abi: tokenAbi, functionName: 'paused' })
  return [{ target: token.address, callData }, barCall(token, wallet), barCall(token, payee)]
}

/** Makes the inner call that asks a token whether it blocks an address. */
export function barCall(token: Token, who: Address): InnerCall {
  const args = [who] as const
  const callData = encodeFunctionData({ abi: tokenAbi, functionName: 'isBlacklisted', args })
  return { target: token.address, callData }
}

/** Reads the answers to `barCalls`. A token without these functions bars nobody. */
export function readBarred(answers: readonly (Hex | undefined)[]): { barred?: Barred } {
  const barred = barredBy(answers.map(isYes))
  return barred ? { barred } : {}
}

/** Returns the first cause that holds, in the order of `barCalls`. */
export function barredBy(isBarred: readonly boolean[]): Barred | undefined {
  return causes.find((_, index) => isBarred[index])
}

/** Returns true if the answer to one of these calls is true. */
export function isYes(answer: Hex | undefined): boolean {
  return readWord(answer) === 1n
}
