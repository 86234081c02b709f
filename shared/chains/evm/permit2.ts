/**
 * What became of a Permit2 permit, and what Permit2 may take of a wallet. Permit2 writes no log when
 * it transfers: that a nonce is spent stands in its bitmap, and the transaction that spent it is the
 * transfer to the payee in the block in which the bit was set.
 */
import { encodeEventTopics, encodeFunctionData } from 'viem/utils'
import * as z from 'zod'
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { permit2Abi, tokenAbi } from './abi.ts'
import type { RpcAnswer, Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import type { AuthorizationFate } from './authorization.ts'
import { unusedAt } from './authorization.ts'
import type { Log } from './logs.ts'
import { logSchema, sameHex } from './logs.ts'
import type { Inner } from './multicall.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import { permit2Address } from './places.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { rpcFor } from './rpc.ts'

/** A permit whose fate is asked for; `nonce` is 32 bytes. */
export type PermitUse = { from: Address; to: Address; nonce: Hex }

/** The payments of one wallet to one payee that are looked through. */
const candidatesMax = 20

/** `fromBlock`: the latest block when it was signed. */
export async function findPermit(
  world: ChainWorld,
  chain: Chain,
  token: Token,
  permit: PermitUse,
  fromBlock: bigint,
): Promise<AuthorizationFate | Unavailable> {
  const rpc = rpcFor(world, chain)
  const [state, finalized] = await rpc.batch([
    encodeSnapshot(chain, [bitmapCall(permit)]),
    { method: 'eth_getBlockByNumber', params: ['finalized', false] },
  ])
  const snapshot = decodeSnapshot(state)
  if (snapshot.status !== 'ok') return snapshot
  const word = readWord(snapshot.results[0])
  if (word === undefined) return unavailable(`Permit2 is not on ${chain.caip2}`)
  if (!isSpent(word, permit)) return unusedAt(snapshot.blockTimestampSeconds, finalized)
  return traceUse(rpc, chain, token, permit, fromBlock)
}

async function traceUse(
  rpc: Rpc,
  chain: Chain,
  token: Token,
  permit: PermitUse,
  fromBlock: bigint,
): Promise<AuthorizationFate | Unavailable> {
  const { from, to } = permit
  const topics = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer', args: { from, to } })
  const filter = { address: token.address, fromBlock: hexOf(fromBlock), toBlock: 'latest', topics }
  const read = readAnswer(await rpc.request('eth_getLogs', [filter]), logsSchema)
  if ('status' in read) return read
  const own = read.value.filter(({ address }) => sameHex(address, token.address))
  const candidates = own.slice(-candidatesMax)
  const states = await rpc.batch(
    candidates.flatMap(({ blockNumber }) =>
      [blockNumber - 1n, blockNumber].map((block) =>
        encodeSnapshot(chain, [bitmapCall(permit)], hexOf(block)),
      ),
    ),
  )
  const at = candidates.findIndex((_, index) => {
    const [before, after] = states.slice(2 * index, 2 * index + 2)
    return spentIn(before, permit) === false && spentIn(after, permit) === true
  })
  return describeUse(candidates[at])
}

const logsSchema = z.array(logSchema).max(1_000)

function describeUse(log: Log | undefined): AuthorizationFate {
  if (!log) return { status: 'untraced' }
  const { transactionHash, blockNumber, logIndex } = log
  return { status: 'used', transactionHash, blockNumber, logIndex: Number(logIndex) }
}

/** What Permit2 may take of a wallet's token, and the wallet's next EIP-2612 nonce. */
export async function readPermit2(
  world: ChainWorld,
  chain: Chain,
  token: Token,
  wallet: Address,
): Promise<{ status: 'ok'; allowanceAtomic: bigint; permitNonce: bigint } | Unavailable> {
  const args = [wallet, permit2Address] as const
  const allowance = encodeFunctionData({ abi: tokenAbi, functionName: 'allowance', args })
  const nonces = encodeFunctionData({ abi: tokenAbi, functionName: 'nonces', args: [wallet] })
  const calls = [allowance, nonces].map((callData) => ({ target: token.address, callData }))
  const { method, params } = encodeSnapshot(chain, calls)
  const snapshot = decodeSnapshot(await rpcFor(world, chain).request(method, params))
  if (snapshot.status !== 'ok') return snapshot
  const [allowanceAtomic, permitNonce] = snapshot.results.map(readWord)
  if (allowanceAtomic === undefined || permitNonce === undefined) {
    return unavailable(`${token.symbol} on ${chain.caip2} gives no allowance`)
  }
  return { status: 'ok', allowanceAtomic, permitNonce }
}

function bitmapCall({ from, nonce }: PermitUse): Inner {
  const args = [from, BigInt(nonce) >> 8n] as const
  const callData = encodeFunctionData({ abi: permit2Abi, functionName: 'nonceBitmap', args })
  return { target: permit2Address, callData }
}

function isSpent(word: bigint, { nonce }: PermitUse): boolean {
  return ((word >> (BigInt(nonce) & 0xffn)) & 1n) === 1n
}

/** Undefined when the node no longer knows that block's state. */
function spentIn(state: RpcAnswer | undefined, permit: PermitUse): boolean | undefined {
  const snapshot = decodeSnapshot(state)
  const word = snapshot.status === 'ok' ? readWord(snapshot.results[0]) : undefined
  return word === undefined ? undefined : isSpent(word, permit)
}

function hexOf(quantity: bigint): Hex {
  return `0x${quantity.toString(16)}`
}
