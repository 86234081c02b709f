/**
 * What became of an EIP-3009 authorization, asked of the token contract alone. This recovers a
 * transaction whose hash was lost with a response, and it is the only ground on which a reserved
 * amount may be released: unused, and expired at a block that can no longer be undone.
 */
import { encodeEventTopics, encodeFunctionData } from 'viem/utils'
import * as z from 'zod'
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { tokenAbi } from './abi.ts'
import type { RpcAnswer, Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import type { Log } from './logs.ts'
import { logSchema, readAuthorizationEnd, sameHex } from './logs.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { rpcFor } from './rpc.ts'
import type { Unused } from './unused.ts'
import { oldestSearched, unusedAt } from './unused.ts'

/**
 * `used`, `canceled`: the transaction that did it; prove the payment from its receipt.
 * `untraced`: it is spent, and no log was found in the blocks searched; keep the reservation.
 */
export type AuthorizationFate =
  | { status: 'used' | 'canceled'; transactionHash: Hex; blockNumber: bigint; logIndex: number }
  | { status: 'untraced' }
  | Unused

const logsMax = 100

/** `fromBlock`: the latest block when it was signed; without it the last 9,000 are searched. */
export async function findAuthorization(
  world: ChainWorld,
  chain: Chain,
  token: Token,
  from: Address,
  nonce: Hex,
  fromBlock?: bigint,
): Promise<AuthorizationFate | Unavailable> {
  const rpc = rpcFor(world, chain)
  const args = [from, nonce] as const
  const callData = encodeFunctionData({ abi: tokenAbi, functionName: 'authorizationState', args })
  const [state, finalized] = await rpc.batch([
    encodeSnapshot(chain, [{ target: token.address, callData }]),
    { method: 'eth_getBlockByNumber', params: ['finalized', false] },
  ])
  const snapshot = decodeSnapshot(state)
  if (snapshot.status !== 'ok') return snapshot
  const spent = readWord(snapshot.results[0])
  if (spent === undefined) return unavailable(`${token.symbol} is not on ${chain.caip2}`)
  if (spent === 1n) {
    const start = fromBlock ?? oldestSearched(snapshot.blockNumber)
    return traceEnd(rpc, token, from, nonce, start)
  }
  return unusedAt(snapshot.blockTimestampSeconds, finalized)
}

async function traceEnd(
  rpc: Rpc,
  token: Token,
  from: Address,
  nonce: Hex,
  start: bigint,
): Promise<AuthorizationFate | Unavailable> {
  const args = { authorizer: from, nonce }
  const used = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed', args })
  const canceled = encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationCanceled', args })
  const [usedSignature, ...indexed] = used
  const topics = [[usedSignature, canceled[0]], ...indexed]
  const filter = { address: token.address, fromBlock: toHex(start), toBlock: 'latest', topics }
  const answer = await rpc.request('eth_getLogs', [filter], { isEnough: hasLogs })
  const read = readAnswer(answer, logsSchema)
  if ('status' in read) return read
  const log = read.value.find((candidate) => sameHex(candidate.address, token.address))
  return log ? describeEnd(log) : { status: 'untraced' }
}

const logsSchema = z.array(logSchema).max(logsMax)

/** A node that lags has no log yet of what another one saw. */
function hasLogs([answer]: readonly RpcAnswer[]): boolean {
  const read = readAnswer(answer, logsSchema)
  return 'value' in read && read.value.length > 0
}

function describeEnd(log: Log): AuthorizationFate {
  const status = readAuthorizationEnd(log)
  if (!status) return { status: 'untraced' }
  const { transactionHash, blockNumber, logIndex } = log
  return { status, transactionHash, blockNumber, logIndex: Number(logIndex) }
}

function toHex(quantity: bigint): Hex {
  return `0x${quantity.toString(16)}`
}
