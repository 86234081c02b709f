/**
 * Makes many reads in one eth_call, through Multicall3. All values of an answer come from the same block,
 * whose number and time come with them, so that compared values were true at one moment.
 */
import { encodeFunctionData } from 'viem/utils'
import type { Address, Chain, Token } from '../../chain.ts'
import { type Hex, hexSchema, isPosition, isTime, readWord } from '../../hex.ts'
import { multicallAbi, rollupAbi, tokenAbi } from '../abi.ts'
import {
  type RpcAnswer,
  type RpcCall,
  readResults,
  readRpcAnswer,
  type Unavailable,
  unavailable,
} from './endpoints.ts'
import { arbSysAddress, multicall3Address } from './places.ts'

/** One contract call within the multicall. */
export type InnerCall = { target: Address; callData: Hex }

/** State at one block. The result of a call that failed or met no contract is undefined. */
export type Snapshot = {
  status: 'ok'
  blockNumber: bigint
  blockTimestampSeconds: bigint
  results: (Hex | undefined)[]
}

const innerCallsMax = 100
/** Number of calls that read the block itself. */
const ownCalls = 3

/** Makes the eth_call that runs all calls. `block` is a tag or a hex number. */
export function encodeSnapshot(
  chain: Chain,
  calls: readonly InnerCall[],
  block = 'latest',
): RpcCall {
  const all = [...blockCalls(chain), ...calls]
  if (all.length > innerCallsMax) throw new RangeError(`${all.length} calls in one`)
  const args = [all.map((call) => ({ ...call, allowFailure: true }))] as const
  const data = encodeFunctionData({ abi: multicallAbi, functionName: 'aggregate3', args })
  return { method: 'eth_call', params: [{ to: multicall3Address, data }, block] }
}

/** Makes the inner call that reads one token balance. */
export function balanceCall(token: Token, address: Address): InnerCall {
  const callData = encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args: [address] })
  return { target: token.address, callData }
}

/** Makes the inner call that reads one native balance. */
export function nativeCall(address: Address): InnerCall {
  const args = [address] as const
  const callData = encodeFunctionData({ abi: multicallAbi, functionName: 'getEthBalance', args })
  return { target: multicall3Address, callData }
}

/** Reads the answer to `encodeSnapshot` with `calls` inner calls. Never throws, whatever the node sent. */
export function decodeSnapshot(
  answer: RpcAnswer | undefined,
  calls: number,
): Snapshot | Unavailable {
  const read = readRpcAnswer(answer, hexSchema)
  if ('status' in read) return read
  const results = readResults(read.value, ownCalls + calls)
  if (!results) return unavailable('Multicall3 gave no result')
  const [arbitrumNumber, evmNumber, timestamp, ...rest] = results
  const number = readWord(arbitrumNumber) ?? readWord(evmNumber)
  const seconds = readWord(timestamp)
  if (number === undefined || seconds === undefined) return unavailable('no block was named')
  if (!isPosition(number) || !isTime(seconds)) return unavailable('no such block can be')
  return { status: 'ok', blockNumber: number, blockTimestampSeconds: seconds, results: rest }
}

/**
 * Returns the calls that read the block. The number is read twice: on Nitro chains the EVM's number is that
 * of the parent chain, and only ArbSys knows the chain's own. Elsewhere the ArbSys call goes to Multicall3,
 * which does not have the function.
 */
function blockCalls({ stack }: Chain): InnerCall[] {
  const own = encodeFunctionData({ abi: rollupAbi, functionName: 'arbBlockNumber' })
  const number = encodeFunctionData({ abi: multicallAbi, functionName: 'getBlockNumber' })
  const time = encodeFunctionData({ abi: multicallAbi, functionName: 'getCurrentBlockTimestamp' })
  return [
    { target: stack === 'nitro' ? arbSysAddress : multicall3Address, callData: own },
    { target: multicall3Address, callData: number },
    { target: multicall3Address, callData: time },
  ]
}
