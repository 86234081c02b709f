/**
 * Reads what one block shows of a Permit2 permit that was used in it. Permit2 writes no log, so the
 * transfer must be found among the token's transfers from the wallet to the payee in that block. Others may
 * be there too: anybody may transfer zero in the wallet's name, and a holder of several permits may use
 * them together.
 */
import * as z from 'zod'
import type { Address, Token } from '../../chain.ts'
import type { Hex } from '../../hex.ts'
import { hexOf, hexSchema, wordSchema } from '../../hex.ts'
import type { Unavailable } from '../rpc/answer.ts'
import { readAnswer } from '../rpc/answer.ts'
import type { BlockRange, PlacedLog } from '../rpc/log-ranges.ts'
import { readLogs } from '../rpc/log-ranges.ts'
import { outgoing, readTransfer, sameHex } from '../rpc/logs.ts'
import type { Rpc } from '../rpc/rpc.ts'
import type { UseEvidence } from '../settlement.ts'

/** Permit whose outcome is asked for. `nonce` has 32 bytes. The scheme exact takes the full amount. */
export type PermitUse = {
  from: Address
  to: Address
  nonce: Hex
  scheme: 'exact' | 'upto'
  amountAtomic: bigint
}

/** A transfer of more than zero from the wallet to the payee. */
export type PayeeTransfer = {
  transactionHash: Hex
  logIndex: number
  blockNumber: bigint
  blockHash: Hex
  valueAtomic: bigint
  /** True if an EIP-3009 authorization of the wallet moved it, so that no permit did. */
  isAuthorized: boolean
}

/** Reads all transfers from the wallet to the payee in these blocks. Transfers of zero are left out. */
export async function readPayeeTransfers(
  rpc: Rpc,
  token: Token,
  { from, to }: PermitUse,
  range: BlockRange,
): Promise<{ moved: PayeeTransfer[] } | Unavailable> {
  const read = await readLogs(rpc, outgoing(token, from), range)
  if ('status' in read) return read
  const own = read.logs.filter(({ address }) => sameHex(address, token.address))
  return { moved: own.flatMap((log) => payeeTransferOf(log, own, to)) }
}

function payeeTransferOf(log: PlacedLog, all: readonly PlacedLog[], to: Address): PayeeTransfer[] {
  const transfer = readTransfer(log)
  if (!transfer || transfer.value === 0n || !sameHex(transfer.to, to)) return []
  const { transactionHash, blockHash, blockNumber, logIndex } = log
  // EIP-3009 tokens write the Transfer log directly after the use of the authorization.
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
 * Derives a use from what moved in the block that spent the nonce. In the scheme upto, less than the amount
 * counts only if a single log moved all that the block moved; everything else counts in full.
 */
export function evidenceOf(
  { scheme, amountAtomic }: PermitUse,
  moved: readonly PayeeTransfer[],
): UseEvidence {
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

function onlyTransaction(moved: readonly PayeeTransfer[]): Hex | null {
  const [hash, ...others] = new Set(moved.map(({ transactionHash }) => transactionHash))
  return hash !== undefined && others.length === 0 ? hash : null
}

/**
 * Block of a use, and what it shows. `isByState`: in state, the nonce is unspent at the block before and
 * spent at this one.
 */
export type PlacedUse = {
  blockNumber: bigint
  blockHash: Hex
  isByState: boolean
  shown: UseEvidence
}

/** Reads the block that spent the nonce. Returns undefined while the node does not show it. */
export async function readBlockEvidence(
  rpc: Rpc,
  token: Token,
  permit: PermitUse,
  blockNumber: bigint,
): Promise<PlacedUse | undefined> {
  const block = [hexOf(blockNumber), false]
  const hash = readAnswer(await rpc.request('eth_getBlockByNumber', block), blockSchema)
  const read = await readPayeeTransfers(rpc, token, permit, { from: blockNumber, to: blockNumber })
  // A block may hold too many logs to read. If it shows no transfer at all, the node's logs lag behind.
  const moved = 'moved' in read ? read.moved : []
  if ('status' in hash || ('moved' in read && moved.length === 0)) return undefined
  const shown = evidenceOf(permit, moved)
  const logs = permit.scheme === 'exact' ? await namedFirst(rpc, permit, shown) : shown.logs
  const place = { blockNumber, blockHash: hash.value.hash, isByState: true }
  return { ...place, shown: { ...shown, logs } }
}

const blockSchema = z.object({ hash: wordSchema })

/** Finds the use by logs alone, if no state shows the block: only the one possible transfer counts. */
export function findAlone(
  { scheme, amountAtomic }: PermitUse,
  moved: readonly PayeeTransfer[],
): PlacedUse | undefined {
  const fitting = moved.filter(({ isAuthorized, valueAtomic }) => {
    const fits = scheme === 'exact' ? valueAtomic === amountAtomic : valueAtomic <= amountAtomic
    return fits && !isAuthorized
  })
  const [only, ...others] = fitting
  if (!only || others.length > 0) return undefined
  const { transactionHash, blockHash, blockNumber, valueAtomic } = only
  const isWhole = valueAtomic === amountAtomic
  const shown = { transactionHash, logs: isWhole ? [only] : [] }
  const takenAtomic = isWhole ? amountAtomic : null
  return { blockNumber, blockHash, isByState: false, shown: { ...shown, takenAtomic } }
}

const namesMax = 20

/** Sorts equal logs: first those whose transaction names the nonce. Each log shows the amount. */
async function namedFirst(
  rpc: Rpc,
  permit: PermitUse,
  { logs }: UseEvidence,
): Promise<UseEvidence['logs']> {
  if (new Set(logs.map(({ transactionHash }) => transactionHash)).size < 2) return logs
  const named = await naming(rpc, permit, logs)
  return [...named, ...logs.filter((log) => !named.includes(log))]
}

const inputSchema = z.object({ input: hexSchema })

/** Selects logs whose transaction input has the signed nonce. Anybody may write it there, however. */
async function naming<Log extends UseEvidence['logs'][number]>(
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
