/** Reads what a wallet holds and can pay of a token now, and whom its token's issuer bars. */
import { encodeFunctionData } from 'viem/utils'
import type { Address, Chain, Token } from '../chain.ts'
import { type Hex, hexSchema, readWord } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import { type RpcAnswer, readRpcAnswer, type Unavailable, unavailable } from './rpc/endpoints.ts'
import {
  balanceCall,
  decodeSnapshot,
  encodeSnapshot,
  type InnerCall,
  nativeCall,
} from './rpc/multicall.ts'
import { type ChainWorld, rpcFor } from './rpc/rpc.ts'
import { type OpenSignature, sumUsed, useCall } from './signature-use.ts'

/**
 * Wallet balance of a token with what open signatures have taken from it, and the bar on moving it to the
 * payee, if any. Valid for one block.
 */
export type BalanceAndBar = {
  status: 'ok'
  blockNumber: bigint
  tokenAtomic: bigint
  barred?: Barred
}

/** Reads balance and bars at once. The balance is zero if the chain lacks the token. */
export async function readBalanceAndBar(
  world: ChainWorld,
  chain: Chain,
  parties: Parties,
  open: readonly OpenSignature[] = [],
): Promise<BalanceAndBar | Unavailable> {
  const bars = barCalls(parties)
  const calls = [balanceCall(parties.token, parties.wallet), ...bars, ...open.map(useCall)]
  const { method, params } = encodeSnapshot(chain, calls)
  const answer = await rpcFor(world, chain).request(method, params)
  const snapshot = decodeSnapshot(answer, calls.length)
  if (snapshot.status !== 'ok') return snapshot
  const [balance, ...answers] = snapshot.results
  const { blockNumber } = snapshot
  return {
    status: 'ok',
    blockNumber,
    tokenAtomic: (readWord(balance) ?? 0n) + sumUsed(open, answers.slice(bars.length)),
    ...readBarred(answers.slice(0, bars.length)),
  }
}

/** Returns the chain's tokens whose issuer bars the address; none if the chain does not answer. */
export async function tokensBarring(
  world: ChainWorld,
  chain: Chain,
  address: Address,
): Promise<Token[]> {
  const calls = chain.tokens.map((token) => barCall(token, address))
  const { method, params } = encodeSnapshot(chain, calls)
  const answer = await rpcFor(world, chain).request(method, params)
  const snapshot = decodeSnapshot(answer, calls.length)
  if (snapshot.status !== 'ok') return []
  return chain.tokens.filter((_, index) => isYes(snapshot.results[index]))
}

/** Balance of one token. `absent`: the chain has no such contract, so the amount is zero. */
export type TokenBalance = { token: Token; amountAtomic: bigint; absent: boolean }

/** Answer of one chain. Native amounts are in wei, in the order in which they were requested. */
export type WalletBalances = {
  status: 'ok'
  blockNumber: bigint
  blockTimestampSeconds: bigint
  tokens: TokenBalance[]
  nativeWei: bigint
  extraNativeWei: bigint[]
}

const timeoutMilliseconds = 3_000

/** Reads the tokens and native coin of an address, and the native coin of further addresses. */
export async function readBalances(
  world: ChainWorld,
  chain: Chain,
  wanted: { address: Address; tokens: readonly Token[]; extraNative?: readonly Address[] },
): Promise<WalletBalances | Unavailable> {
  const { address, tokens, extraNative = [] } = wanted
  const natives = [address, ...extraNative]
  const calls = [...tokens.map((token) => balanceCall(token, address)), ...natives.map(nativeCall)]
  const { method, params } = encodeSnapshot(chain, calls)
  const read = (answer: RpcAnswer | undefined) => decodeSnapshot(answer, calls.length)
  const isEnough = ([answer]: readonly RpcAnswer[]) => read(answer).status === 'ok'
  const limits = { timeoutMilliseconds, isEnough }
  const answer = await rpcFor(world, chain).request(method, params, limits)
  const snapshot = read(answer)
  if (snapshot.status !== 'ok') return snapshot
  const words = snapshot.results.map(readWord)
  const [nativeWei, ...extraNativeWei] = words
    .slice(tokens.length)
    .filter((word) => word !== undefined)
  if (nativeWei === undefined || extraNativeWei.length !== extraNative.length) {
    return unavailable('a native balance is missing')
  }
  const { blockNumber, blockTimestampSeconds } = snapshot
  return {
    status: 'ok',
    blockNumber,
    blockTimestampSeconds,
    tokens: tokens.map((token, index) => tokenBalance(token, words[index])),
    nativeWei,
    extraNativeWei,
  }
}

function tokenBalance(token: Token, word: bigint | undefined): TokenBalance {
  return { token, amountAtomic: word ?? 0n, absent: word === undefined }
}

/** Reason why the token would not move now, if any. */
export type Barred = 'paused' | 'payer' | 'payee'

/** The token, payer and payee of a payment. */
type Parties = { token: Token; wallet: Address; payee: Address }

const causes = ['paused', 'payer', 'payee'] as const

/** Makes the inner calls that read the bars, one for each cause. */
export function barCalls({ token, wallet, payee }: Parties): [InnerCall, InnerCall, InnerCall] {
  const callData = encodeFunctionData({ abi: tokenAbi, functionName: 'paused' })
  return [{ target: token.address, callData }, barCall(token, wallet), barCall(token, payee)]
}

/** Makes the inner call that asks a token whether it blocks an address. */
function barCall(token: Token, who: Address): InnerCall {
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
function isYes(answer: Hex | undefined): boolean {
  return readWord(answer) === 1n
}

/** Kind of an address. `delegated`: an account with a key that runs a contract's code (EIP-7702). */
export type AddressKind = { status: 'ok'; kind: 'account' | 'delegated' | 'contract' }

/** Reads whether an address has code. A contract may receive tokens that it cannot send on. */
export async function readAddressKind(
  world: ChainWorld,
  chain: Chain,
  address: Address,
): Promise<AddressKind | Unavailable> {
  const answer = await rpcFor(world, chain).request('eth_getCode', [address, 'latest'])
  const read = readRpcAnswer(answer, hexSchema)
  if ('status' in read) return read
  const code = read.value.toLowerCase()
  if (code === '0x') return { status: 'ok', kind: 'account' }
  // EIP-3541 forbids all other code to begin with 0xef.
  return { status: 'ok', kind: code.startsWith('0xef0100') ? 'delegated' : 'contract' }
}

/** Returns true if it is a contract on any of the chains; null if a chain that could say so is silent. */
export async function isContractOn(
  world: ChainWorld,
  chains: readonly Chain[],
  address: Address,
): Promise<boolean | null> {
  const kinds = await Promise.all(chains.map((chain) => readAddressKind(world, chain, address)))
  if (kinds.some((read) => read.status === 'ok' && read.kind === 'contract')) return true
  return kinds.every((read) => read.status === 'ok') ? false : null
}
