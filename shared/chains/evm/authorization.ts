/**
 * Determines the outcome of an EIP-3009 authorization from the token contract alone. This recovers a
 * transaction whose hash was lost with a response. It also decides when a reserved amount may be released:
 * when the authorization is unused and has expired at a final block, or was canceled in a final block.
 */
import { encodeFunctionData } from 'viem/utils'
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import type { NonceState } from './quorum/spending-block.ts'
import type { Untraced, Unused } from './quorum/unused.ts'
import { headCalls, isFinallyUnused, secondsOf, unusedAt } from './quorum/unused.ts'
import type { RpcAnswer, Unavailable } from './rpc/answer.ts'
import { unavailable } from './rpc/answer.ts'
import type { BlockRange, PlacedLog } from './rpc/log-ranges.ts'
import { hasLogs, readLogs, searchedRange } from './rpc/log-ranges.ts'
import { cancelTopic, readAuthorizationEnd, sameHex, useTopic, wordOf } from './rpc/logs.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './rpc/multicall.ts'
import type { Rpc } from './rpc/rpc.ts'
import type { BlockPosition, Candidate } from './settlement.ts'
import { blockPositionOf, parseHeadHeights } from './settlement.ts'

/**
 * The authorization that is asked about. `since` is the latest block when it was signed. `only` restricts
 * the log search to one block.
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
 * Outcome of an authorization. `used` and `canceled` carry the log and its block. `untraced`: the nonce is
 * spent and no log was found, so the reservation must be kept.
 */
export type AuthorizationOutcome =
  | ({ status: 'used' } & PlacedEnd)
  | ({ status: 'canceled' } & PlacedEnd)
  | Untraced
  | Unused

/** A log of the token with its block. */
export type PlacedEnd = BlockPosition & Candidate

/** Returns true if it can never be used: finally canceled, or unused at a final block from its end on. */
export function canNeverBeUsed(
  outcome: AuthorizationOutcome | Unavailable,
  endSeconds: bigint,
): boolean {
  return outcome.status === 'canceled'
    ? outcome.finality === 'finalized'
    : isFinallyUnused(outcome, endSeconds)
}

/**
 * Asks one endpoint, or the endpoints in turn. The log filter names payer and nonce, so the answer stays
 * short however many other logs the blocks hold.
 */
export async function readAuthorization(
  rpc: Rpc,
  question: AuthorizationQuestion,
): Promise<AuthorizationOutcome | Unavailable> {
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

function placeEnd({ status, log }: End, heads: readonly RpcAnswer[]): AuthorizationOutcome {
  const { blockNumber: number, blockHash: hash, transactionHash, logIndex } = log
  const place = blockPositionOf({ number, hash }, parseHeadHeights(heads))
  return { status, ...place, transactionHash, logIndex: Number(logIndex) }
}

/** Finds the log that ended it. Returns undefined if there is none or the node does not answer. */
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

/** Returns the filter for the logs that end the authorization. */
function endsOf({ token, from, nonce }: Pick<AuthorizationQuestion, 'token' | 'from' | 'nonce'>) {
  return { address: token.address, topics: [[useTopic, cancelTopic], wordOf(from), nonce] }
}

/** Returns the call that reads whether the authorization is spent. */
export function authorizationState({ token, from, nonce }: AuthorizationQuestion): NonceState {
  const args = [from, nonce] as const
  const callData = encodeFunctionData({ abi: tokenAbi, functionName: 'authorizationState', args })
  return { call: { target: token.address, callData }, isSpent: (word) => word === 1n }
}
