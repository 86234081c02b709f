/**
 * What became of an EIP-3009 authorization, asked of the token contract alone. This recovers a
 * transaction whose hash was lost with a response, and it is the only ground on which a reserved
 * amount may be released: unused, and expired at a block that can no longer be undone.
 */
import { encodeFunctionData } from 'viem/utils'
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import type { RpcAnswer, Unavailable } from './answer.ts'
import { unavailable } from './answer.ts'
import type { BlockRange, PlacedLog } from './log-ranges.ts'
import { hasLogs, readLogs, searchedRange } from './log-ranges.ts'
import { cancelTopic, readAuthorizationEnd, sameHex, useTopic, wordOf } from './logs.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import type { Rpc } from './rpc.ts'
import type { Candidate, Place } from './settlement.ts'
import { placeOf, readHeads } from './settlement.ts'
import type { NonceState } from './spending-block.ts'
import type { Untraced, Unused } from './unused.ts'
import { headCalls, isOver, secondsOf, unusedAt } from './unused.ts'

/**
 * Whose authorization of which token; `since` is the latest block when it was signed, `only` the block
 * in which alone its log is looked for.
 */
export type AuthorizationQuestion = {
  chain: Chain
  token: Token
  from: Address
  nonce: Hex
  since?: bigint | undefined
  only?: bigint
}

/**
 * `used`, `canceled`: the log that says so, and where it stands. `untraced`: it is spent, and no log was
 * found; keep the reservation.
 */
export type AuthorizationFate =
  | ({ status: 'used' } & PlacedEnd)
  | ({ status: 'canceled' } & PlacedEnd)
  | Untraced
  | Unused

/** A log of the token with its block. */
export type PlacedEnd = Place & Candidate

/** Whether it can never be used: unused at a final block of that time or later, or cancelled for good. */
export function canNeverBeUsed(fate: AuthorizationFate | Unavailable, endSeconds: bigint): boolean {
  return fate.status === 'canceled' ? fate.finality === 'finalized' : isOver(fate, endSeconds)
}

/**
 * Asks one endpoint, or the endpoints in turn. The log of its end is asked for by payer and nonce, so
 * that the answer is as short however much else is written beside it.
 */
export async function readAuthorization(
  rpc: Rpc,
  question: AuthorizationQuestion,
): Promise<AuthorizationFate | Unavailable> {
  const { chain, token, since, only } = question
  const state = authorizationState(question)
  const [word, ...others] = await rpc.batch([
    encodeSnapshot(chain, [state.call]),
    ...headCalls,
    encodeSnapshot(chain, [state.call], 'finalized'),
  ])
  const [heads, finalWord] = [others.slice(0, headCalls.length), others[headCalls.length]]
  const snapshot = decodeSnapshot(word, 1)
  if (snapshot.status !== 'ok') return snapshot
  const spent = readWord(snapshot.results[0])
  if (spent === undefined) return unavailable(`${token.symbol} is not on ${chain.caip2}`)
  if (!state.isSpent(spent)) return unusedAt(snapshot, heads[2])
  const latest = snapshot.blockNumber
  const range = only === undefined ? searchedRange(latest, since) : { from: only, to: only }
  const found = await findEnd(rpc, question, range)
  if (found) return placeEnd(found, heads)
  const atFinal = decodeSnapshot(finalWord, 1)
  const isFinal = atFinal.status === 'ok' && readWord(atFinal.results[0]) === 1n
  return { status: 'untraced', latest, isFinal, finalSeconds: secondsOf(heads[2]) }
}

type End = { status: 'used' | 'canceled'; log: PlacedLog }

function placeEnd({ status, log }: End, heads: readonly RpcAnswer[]): AuthorizationFate {
  const { blockNumber: number, blockHash: hash, transactionHash, logIndex } = log
  const place = placeOf({ number, hash }, readHeads(heads))
  return { status, ...place, transactionHash, logIndex: Number(logIndex) }
}

/** The log that ended it; undefined where none is found, or the node does not say. */
async function findEnd(
  rpc: Rpc,
  { token, from, nonce }: AuthorizationQuestion,
  range: BlockRange,
): Promise<End | undefined> {
  const filter = endsOf({ token, from, nonce })
  const read = await readLogs(rpc, filter, range, { isEnough: hasLogs })
  const logs = 'logs' in read ? read.logs : []
  for (const log of logs) {
    const status = sameHex(log.address, token.address) && readAuthorizationEnd(log, from, nonce)
    if (status) return { status, log }
  }
  return undefined
}

/** The logs that end it. */
function endsOf({ token, from, nonce }: Pick<AuthorizationQuestion, 'token' | 'from' | 'nonce'>) {
  return { address: token.address, topics: [[useTopic, cancelTopic], wordOf(from), nonce] }
}

/** Where it stands that it is spent. */
export function authorizationState({ token, from, nonce }: AuthorizationQuestion): NonceState {
  const args = [from, nonce] as const
  const callData = encodeFunctionData({ abi: tokenAbi, functionName: 'authorizationState', args })
  return { call: { target: token.address, callData }, isSpent: (word) => word === 1n }
}
