/**
 * Compares receipts across several endpoints. A receipt that one endpoint invents could make a transaction
 * look mined that was never sent, or a payment look settled for good.
 */
import * as z from 'zod'
import type { Chain } from '../../chain.ts'
import { quantitySchema } from '../../hex.ts'
import type { PlacedReceipt } from '../proof.ts'
import { receiptCalls, receiptsPerRequest, rpcReceiptSchema } from '../proof.ts'
import type { RpcAnswer } from '../rpc/answer.ts'
import { readAnswer } from '../rpc/answer.ts'
import type { ChainWorld, Rpc } from '../rpc/rpc.ts'
import { endpointsFor } from '../rpc/rpc.ts'
import { isQuorum, isUncontradicted } from './enough.ts'

const headSchema = z.object({ number: quantitySchema })

/**
 * Returns the receipts, each read at one endpoint, that no other endpoint contradicts. A receipt stays
 * `finalized` only if a quorum shows the same receipt at or below its own final block; otherwise it becomes
 * `safe`.
 */
export async function agreedReceipts(
  world: ChainWorld,
  chain: Chain,
  receipts: readonly PlacedReceipt[],
): Promise<PlacedReceipt[]> {
  if (receipts.length === 0) return []
  const reports = await Promise.all(
    endpointsFor(world, chain).map(async ({ operator, rpc }) => {
      return { operator, seen: await compareAll(rpc, receipts) }
    }),
  )
  return receipts.flatMap((receipt, at) => {
    const views = reports.map(({ operator, seen }) => ({ operator, ...seen[at] }))
    if (!isUncontradicted(views.map(({ operator, says }) => ({ operator, says })))) return []
    const isFinal = isQuorum(
      views.map((view) => ({ operator: view.operator, agrees: view.isFinal === true })),
    )
    const isClaimed = receipt.finality === 'finalized' && !isFinal
    return [isClaimed ? { ...receipt, finality: 'safe' as const } : receipt]
  })
}

type View = { says: boolean | undefined; isFinal: boolean }

async function compareAll(rpc: Rpc, receipts: readonly PlacedReceipt[]): Promise<View[]> {
  const views: View[] = []
  for (let start = 0; start < receipts.length; start += receiptsPerRequest) {
    const part = receipts.slice(start, start + receiptsPerRequest)
    const calls = receiptCalls(part.map(({ transactionHash }) => transactionHash))
    const end = { method: 'eth_getBlockByNumber', params: ['finalized', false] }
    const [head, ...answers] = await rpc.batch([end, ...calls])
    const final = readAnswer(head, headSchema)
    const finalNumber = 'value' in final ? final.value.number : undefined
    views.push(...part.map((receipt, at) => compare(receipt, answers[at], finalNumber)))
  }
  return views
}

/** Returns whether an endpoint shows exactly this receipt. `says` is undefined if it cannot answer. */
function compare(
  receipt: PlacedReceipt,
  answer: RpcAnswer | undefined,
  finalNumber: bigint | undefined,
): View {
  const read = readAnswer(answer, rpcReceiptSchema.nullable())
  if ('status' in read) return { says: undefined, isFinal: false }
  const says = read.value !== null && textOf(read.value) === textOf(receipt)
  const isFinal = says && finalNumber !== undefined && receipt.blockNumber <= finalNumber
  return { says, isFinal }
}

function textOf({
  blockHash,
  blockNumber,
  status,
  logs,
}: z.output<typeof rpcReceiptSchema>): string {
  const parts = logs.map((log) => [log.address, log.logIndex.toString(), log.topics, log.data])
  const [number, state] = [blockNumber.toString(), status.toString()]
  return JSON.stringify([blockHash, number, state, parts]).toLowerCase()
}
