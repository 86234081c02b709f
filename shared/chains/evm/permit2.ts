/**
 * What became of a Permit2 permit. Permit2 writes no log when it transfers: that a nonce is spent
 * stands in its bitmap, and the transaction that spent it is the transfer to the payee in the block in
 * which the bit was set.
 */
import { encodeEventTopics, encodeFunctionData } from 'viem/utils'
import * as z from 'zod'
import type { Address, Chain, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { hexSchema } from '../hex.ts'
import { permit2Abi, tokenAbi } from './abi.ts'
import type { RpcAnswer, Unavailable } from './answer.ts'
import { readAnswer, unavailable } from './answer.ts'
import type { Log } from './logs.ts'
import { logSchema, readTransfer, sameHex } from './logs.ts'
import type { Inner } from './multicall.ts'
import { decodeSnapshot, encodeSnapshot, readWord } from './multicall.ts'
import { permit2Address } from './places.ts'
import type { ChainWorld, Rpc } from './rpc.ts'
import { rpcFor } from './rpc.ts'
import type { Unused } from './unused.ts'
import { oldestSearched, unusedAt } from './unused.ts'

/** A permit whose fate is asked for; `nonce` is 32 bytes. In exact both bounds are the amount. */
export type PermitUse = {
  from: Address
  to: Address
  nonce: Hex
  valueMinAtomic: bigint
  valueMaxAtomic: bigint
}

/** As of an EIP-3009 authorization, with what was taken; only its owner could cancel a permit. */
export type PermitFate =
  | { status: 'used'; transactionHash: Hex; valueAtomic: bigint }
  | { status: 'untraced' }
  | Unused

/** `fromBlock`: the latest block when it was signed; without it the last 9,000 are searched. */
export async function findPermit(
  world: ChainWorld,
  chain: Chain,
  token: Token,
  permit: PermitUse,
  fromBlock?: bigint,
): Promise<PermitFate | Unavailable> {
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
  const since = fromBlock ?? oldestSearched(snapshot.blockNumber)
  const transfers = await findTransfers(rpc, token, permit, since)
  return 'status' in transfers ? transfers : traceUse(rpc, chain, permit, transfers)
}

/** The latest transfers of one wallet to one payee; what was spent is looked for within minutes. */
const transfersMax = 50
const candidatesMax = 20

async function findTransfers(
  rpc: Rpc,
  token: Token,
  { from, to, valueMinAtomic, valueMaxAtomic }: PermitUse,
  since: bigint,
): Promise<Moved[] | Unavailable> {
  const topics = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer', args: { from, to } })
  const filter = { address: token.address, fromBlock: hexOf(since), toBlock: 'latest', topics }
  const read = readAnswer(await rpc.request('eth_getLogs', [filter]), logsSchema)
  if ('status' in read) return read
  return read.value
    .filter(({ address }) => sameHex(address, token.address))
    .map((log) => ({ ...log, valueAtomic: readTransfer(log)?.value ?? -1n }))
    .filter(({ valueAtomic: value }) => value >= valueMinAtomic && value <= valueMaxAtomic)
    .slice(-transfersMax)
}

const logsSchema = z.array(logSchema).max(1_000)
type Moved = Log & { valueAtomic: bigint }

/**
 * The transfer by which the bit was set. Where blocks hold several, the one whose transaction names
 * the nonce; and where that is still not one, the largest, so that never less is booked than was
 * taken. A node that has forgotten the state of a block leaves the nonce alone to tell.
 */
async function traceUse(
  rpc: Rpc,
  chain: Chain,
  permit: PermitUse,
  transfers: Moved[],
): Promise<PermitFate> {
  if (transfers.length === 0) return { status: 'untraced' }
  const named = await naming(rpc, permit, transfers)
  const candidates = (named.length > 0 ? named : transfers).slice(-candidatesMax)
  const states = await rpc.batch(
    candidates.flatMap(({ blockNumber }) =>
      [blockNumber - 1n, blockNumber].map((block) =>
        encodeSnapshot(chain, [bitmapCall(permit)], hexOf(block)),
      ),
    ),
  )
  const using = candidates.filter((_, index) => {
    const [before, after] = states.slice(2 * index, 2 * index + 2)
    const [wasSpent, isNow] = [spentIn(before, permit), spentIn(after, permit)]
    if (wasSpent === undefined || isNow === undefined) return named.length > 0
    return !wasSpent && isNow
  })
  const [largest] = using.toSorted((a, b) => (a.valueAtomic < b.valueAtomic ? 1 : -1))
  if (!largest) return { status: 'untraced' }
  const { transactionHash, valueAtomic } = largest
  return { status: 'used', transactionHash, valueAtomic }
}

const inputSchema = z.object({ input: hexSchema })

/** The proxies take a permit as it was signed, so the nonce stands in their transaction's data. */
async function naming(rpc: Rpc, { nonce }: PermitUse, transfers: Moved[]): Promise<Moved[]> {
  const answers = await rpc.batch(
    transfers.map(({ transactionHash }) => ({
      method: 'eth_getTransactionByHash',
      params: [transactionHash],
    })),
  )
  return transfers.filter((_, index) => {
    const read = readAnswer(answers[index], inputSchema)
    return 'value' in read && read.value.input.toLowerCase().includes(nonce.slice(2).toLowerCase())
  })
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
