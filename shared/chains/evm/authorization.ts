/**
 * What became of an EIP-3009 authorization, asked of the token contract alone. This recovers a
 * transaction whose hash was lost with a response, and it is the only ground on which a reserved
 * amount may be released: unused, and expired at a block that can no longer be undone.
 */
import { encodeEventTopics, encodeFunctionData } from 'viem/utils'
import * as z from 'zod'
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { quantitySchema } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import type { Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import type { PlacedLog } from './log-ranges.ts'
import { hasLogs, logSchema, readLogs, searchedRange } from './log-ranges.ts'
import { readAuthorizationEnd, sameHex } from './logs.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import type { Rpc } from './rpc.ts'
import type { NonceState } from './spending-block.ts'
import type { Untraced, Unused } from './unused.ts'
import { isOver, secondsOf, unusedAt } from './unused.ts'

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
 * `used`, `canceled`: the transaction that did it; prove the payment from its receipt.
 * `untraced`: it is spent, and no log was found; keep the reservation.
 */
export type AuthorizationFate =
  | ({ status: 'used' } & Place)
  | ({ status: 'canceled' } & Place)
  | Untraced
  | Unused

/** Of the log; `isFinal` by the node's own tag. */
type Place = { transactionHash: Hex; blockNumber: bigint; logIndex: number; isFinal: boolean }

/** Whether it can never be used: unused at a final block of that time or later, or cancelled for good. */
export function canNeverBeUsed(fate: AuthorizationFate | Unavailable, endSeconds: bigint): boolean {
  return fate.status === 'canceled' ? fate.isFinal : isOver(fate, endSeconds)
}

const headSchema = z.object({ number: quantitySchema })

/** Asks one endpoint, or the endpoints in turn. */
export async function readAuthorization(
  rpc: Rpc,
  question: AuthorizationQuestion,
): Promise<AuthorizationFate | Unavailable> {
  const { chain, token } = question
  const { call } = authorizationState(question)
  const [state, finalized, finalState] = await rpc.batch([
    encodeSnapshot(chain, [call]),
    { method: 'eth_getBlockByNumber', params: ['finalized', false] },
    encodeSnapshot(chain, [call], 'finalized'),
  ])
  const snapshot = decodeSnapshot(state)
  if (snapshot.status !== 'ok') return snapshot
  const spent = readWord(snapshot.results[0])
  if (spent === undefined) return unavailable(`${token.symbol} is not on ${chain.caip2}`)
  if (spent !== 1n) return unusedAt(snapshot.blockTimestampSeconds, finalized)
  const head = readAnswer(finalized, headSchema)
  const final = 'value' in head ? head.value.number : undefined
  const latest = snapshot.blockNumber
  const log = await traceEnd(rpc, question, latest)
  const status = log && readAuthorizationEnd(log)
  if (!log || !status) {
    const atFinal = decodeSnapshot(finalState)
    const isFinal = atFinal.status === 'ok' && readWord(atFinal.results[0]) === 1n
    return { status: 'untraced', latest, isFinal, finalSeconds: secondsOf(finalized) }
  }
  const { transactionHash, blockNumber, logIndex } = log
  const isFinal = final !== undefined && blockNumber <= final
  return { status, transactionHash, blockNumber, logIndex: Number(logIndex), isFinal }
}

/** The log that ended it; undefined where none is found, or the node does not say. */
async function traceEnd(
  rpc: Rpc,
  question: AuthorizationQuestion,
  latest: bigint,
): Promise<PlacedLog | undefined> {
  const { token, since, only } = question
  const filter = endsOf(question)
  const range = only === undefined ? searchedRange(latest, since) : { from: only, to: only }
  const read = await readLogs(rpc, filter, range, { isEnough: hasLogs })
  const logs = 'logs' in read ? read.logs : []
  return logs.find(({ address }) => sameHex(address, token.address))
}

/** The logs that end it. */
function endsOf({ token, from, nonce }: AuthorizationQuestion) {
  const args = { authorizer: from, nonce }
  const used = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed', args })
  const canceled = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationCanceled', args })
  const [usedSignature, ...indexed] = used
  return { address: token.address, topics: [[usedSignature, canceled[0]], ...indexed] }
}

/** Whether an endpoint shows in this block the log of its use. */
export async function showsUseIn(
  rpc: Rpc,
  question: AuthorizationQuestion,
  blockHash: Hex,
): Promise<boolean> {
  const answer = await rpc.request('eth_getLogs', [{ ...endsOf(question), blockHash }])
  const read = readAnswer(answer, z.array(logSchema))
  return 'value' in read && read.value.some((log) => readAuthorizationEnd(log) === 'used')
}

/** Where it stands that it is spent. */
export function authorizationState({ token, from, nonce }: AuthorizationQuestion): NonceState {
  const args = [from, nonce] as const
  const callData = encodeFunctionData({ abi: tokenAbi, functionName: 'authorizationState', args })
  return { call: { target: token.address, callData }, isSpent: (word) => word === 1n }
}
