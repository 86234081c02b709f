/**
 * What a block shows of a Permit2 permit that was used in it. Permit2 writes no log, so the transfer is
 * one of the token's from the wallet to the payee in that block, and others may stand beside it: anybody
 * may move nothing in the wallet's name, and whoever holds several permits may use them together.
 */
import * as z from 'zod'
import type { Address, Token } from '../chain.ts'
import type { Hex } from '../hex.ts'
import { hexOf, hexSchema, wordSchema } from '../hex.ts'
import type { Unavailable } from './answer.ts'
import { readAnswer } from './answer.ts'
import type { BlockRange, PlacedLog } from './log-ranges.ts'
import { readLogs } from './log-ranges.ts'
import { outgoing, readTransfer, sameHex } from './logs.ts'
import type { Rpc } from './rpc.ts'
import type { Shown } from './settlement.ts'

/** A permit whose fate is asked for; `nonce` is 32 bytes. In exact the amount is taken whole. */
export type PermitUse = {
  from: Address
  to: Address
  nonce: Hex
  scheme: 'exact' | 'upto'
  amountAtomic: bigint
}

/** A transfer of something from the wallet to the payee. */
export type Moved = {
  transactionHash: Hex
  logIndex: number
  blockNumber: bigint
  blockHash: Hex
  valueAtomic: bigint
  /** Whether it belongs to an EIP-3009 authorization of the wallet, and so to no permit. */
  isAuthorized: boolean
}

/** All that moved from the wallet to the payee in these blocks; transfers of nothing are passed over. */
export async function readMoved(
  rpc: Rpc,
  token: Token,
  { from, to }: PermitUse,
  range: BlockRange,
): Promise<{ moved: Moved[] } | Unavailable> {
  const read = await readLogs(rpc, outgoing(token, from), range)
  if ('status' in read) return read
  const own = read.logs.filter(({ address }) => sameHex(address, token.address))
  return { moved: own.flatMap((log) => movedBy(log, own, to)) }
}

function movedBy(log: PlacedLog, all: readonly PlacedLog[], to: Address): Moved[] {
  const transfer = readTransfer(log)
  if (!transfer || transfer.value === 0n || !sameHex(transfer.to, to)) return []
  const { transactionHash, blockHash, blockNumber, logIndex } = log
  // Where EIP-3009 tokens write it: right after the use of the authorization.
  const isAuthorized = all.some(
    (other) =>
      other.logIndex === logIndex - 1n &&
      sameHex(other.blockHash, blockHash) &&
      readTransfer(other) === undefined,
  )
  const place = { transactionHash, blockHash, blockNumber, logIndex: Number(logIndex) }
  return [{ ...place, valueAtomic: transfer.value, isAuthorized }]
}

/**
 * Reads a use off what moved in the block in which the nonce was spent. Less than the amount was taken
 * only if the whole block moved no more than that, by one log; everything else counts in full.
 */
export function showUse({ scheme, amountAtomic }: PermitUse, moved: readonly Moved[]): Shown {
  const own = moved.filter(({ isAuthorized }) => !isAuthorized)
  if (scheme === 'exact') {
    const equal = own.filter(({ valueAtomic }) => valueAtomic === amountAtomic)
    return { transactionHash: onlyTransaction(equal), logs: equal, takenAtomic: amountAtomic }
  }
  const transactionHash = onlyTransaction(own)
  const [first] = own
  const isAlone = first !== undefined && own.length === 1 && moved.length === 1
  if (!isAlone || first.valueAtomic > amountAtomic) {
    return { transactionHash, logs: [], takenAtomic: null }
  }
  return { transactionHash, logs: own, takenAtomic: first.valueAtomic }
}

function onlyTransaction(moved: readonly Moved[]): Hex | null {
  const [hash, ...others] = new Set(moved.map(({ transactionHash }) => transactionHash))
  return hash !== undefined && others.length === 0 ? hash : null
}

/**
 * In which block a use stands, and what that shows. `isByState`: the state of the block before has the nonce
 * unspent, and its own has it spent.
 */
export type PlacedUse = { blockNumber: bigint; blockHash: Hex; isByState: boolean; shown: Shown }

/** What the block that spent the nonce shows; undefined while the node does not show it. */
export async function showBlock(
  rpc: Rpc,
  token: Token,
  permit: PermitUse,
  blockNumber: bigint,
): Promise<PlacedUse | undefined> {
  const block = [hexOf(blockNumber), false]
  const hash = readAnswer(await rpc.request('eth_getBlockByNumber', block), blockSchema)
  const read = await readMoved(rpc, token, permit, { from: blockNumber, to: blockNumber })
  // A block may hold more logs than can be read; one without any is of a node that lags with them.
  const moved = 'moved' in read ? read.moved : []
  if ('status' in hash || ('moved' in read && moved.length === 0)) return undefined
  const shown = showUse(permit, moved)
  const logs = permit.scheme === 'exact' ? await namedFirst(rpc, permit, shown) : shown.logs
  const place = { blockNumber, blockHash: hash.value.hash, isByState: true }
  return { ...place, shown: { ...shown, logs } }
}

const blockSchema = z.object({ hash: wordSchema })

/** By logs alone, where no state tells the block: only what is the one possible transfer. */
export async function findAlone(
  rpc: Rpc,
  permit: PermitUse,
  moved: readonly Moved[],
): Promise<PlacedUse | undefined> {
  const { scheme, amountAtomic } = permit
  const fitting = moved.filter(({ isAuthorized, valueAtomic }) => {
    const fits = scheme === 'exact' ? valueAtomic === amountAtomic : valueAtomic <= amountAtomic
    return fits && !isAuthorized
  })
  const isNamed = scheme === 'exact' && fitting.length > 1
  const [only, ...others] = isNamed ? await naming(rpc, permit, fitting) : fitting
  if (!only || others.length > 0) return undefined
  const { transactionHash, blockHash, blockNumber, valueAtomic } = only
  const isWhole = valueAtomic === amountAtomic
  const shown = { transactionHash, logs: isWhole ? [only] : [] }
  const takenAtomic = isWhole ? amountAtomic : null
  return { blockNumber, blockHash, isByState: false, shown: { ...shown, takenAtomic } }
}

const namesMax = 20

/** Of equal logs those first whose transaction names the nonce: each of them shows the amount. */
async function namedFirst(rpc: Rpc, permit: PermitUse, { logs }: Shown): Promise<Shown['logs']> {
  if (new Set(logs.map(({ transactionHash }) => transactionHash)).size < 2) return logs
  const named = await naming(rpc, permit, logs)
  return [...named, ...logs.filter((log) => !named.includes(log))]
}

const inputSchema = z.object({ input: hexSchema })

/** The proxies take a permit as it was signed; but anybody may write a nonce into a transaction. */
async function naming<Log extends Shown['logs'][number]>(
  rpc: Rpc,
  { nonce }: PermitUse,
  logs: readonly Log[],
): Promise<Log[]> {
  const asked = logs.slice(0, namesMax)
  const answers = await rpc.batch(
    asked.map(({ transactionHash }) => ({
      method: 'eth_getTransactionByHash',
      params: [transactionHash],
    })),
  )
  return asked.filter((_, index) => {
    const read = readAnswer(answers[index], inputSchema)
    return 'value' in read && read.value.input.toLowerCase().includes(nonce.slice(2).toLowerCase())
  })
}
