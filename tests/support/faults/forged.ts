/** Receipts that one endpoint forges, and transactions that it accepts without passing them on. */
import { keccak256, toEventSelector } from 'viem'
import * as z from 'zod'
import { hexSchema, wordSchema } from '../../../shared/chains/hex.ts'
import type { TestWorld } from '../world.ts'
import { node } from './chain.ts'
import { type Lie, saying } from './liar.ts'

const block = z.object({ number: hexSchema, hash: wordSchema })
type Block = z.output<typeof block>

/** Fields of a payment that its logs contain. */
export const reportedPayment = z.object({
  wallet: z.string(),
  payee: z.string(),
  token: z.string(),
  amount: z.string(),
  nonce: z.string(),
})

/** Returns the final block, or the block with another tag, as the chain has it. */
export async function finalBlock(world: TestWorld, tag = 'finalized'): Promise<Block> {
  return block.parse(await node(world, 'eth_getBlockByNumber', tag, false))
}

/** Returns the receipt of a transaction in that block, with the logs of these payments. */
export function receiptIn(
  { number, hash }: Block,
  transactionHash: string,
  payments: readonly z.output<typeof reportedPayment>[] = [],
) {
  const place = { blockNumber: number, blockHash: hash, transactionHash }
  const logs = payments.flatMap(({ wallet, payee, token, amount, nonce }, at) => {
    const log = (logIndex: number, topics: string[], data: string) => {
      return { ...place, address: token, topics, data, logIndex: `0x${logIndex.toString(16)}` }
    }
    return [
      log(
        2 * at,
        [toEventSelector('AuthorizationUsed(address,bytes32)'), wordOf(wallet), nonce],
        '0x',
      ),
      log(
        2 * at + 1,
        [toEventSelector('Transfer(address,address,uint256)'), wordOf(wallet), wordOf(payee)],
        `0x${BigInt(amount).toString(16).padStart(64, '0')}`,
      ),
    ]
  })
  return { ...place, status: '0x1', logs }
}

function wordOf(address: string): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}

/** Shows these receipts by their transaction hash, and their logs in every search that covers them. */
export function forging(receipts: ReadonlyMap<string, Receipt>): Lie {
  const shown = saying(
    'eth_getTransactionReceipt',
    (read, [hash]) => receipts.get(String(hash)) ?? read,
  )
  const forged = [...receipts.values()].flatMap(({ logs }) => logs)
  const found = saying('eth_getLogs', (read, params) => {
    const asked = soughtLogs.parse(params)[0]
    return [...forged.filter((log) => isSought(log, asked)), ...z.array(z.unknown()).parse(read)]
  })
  return {
    told: (body, asked) => found.told?.(shown.told?.(body, asked) ?? body, asked) ?? body,
  }
}

type Receipt = ReturnType<typeof receiptIn>

const soughtLogs = z.tuple([
  z.object({
    topics: z.array(z.unknown()),
    fromBlock: hexSchema.optional(),
    toBlock: hexSchema.optional(),
    blockHash: wordSchema.optional(),
  }),
])

function isSought(
  log: Receipt['logs'][number],
  { topics, fromBlock, toBlock, blockHash }: z.output<typeof soughtLogs>[0],
): boolean {
  const at = BigInt(log.blockNumber)
  const isInRange =
    blockHash === undefined
      ? BigInt(fromBlock ?? 0) <= at && at <= BigInt(toBlock ?? 0)
      : blockHash === log.blockHash
  const nonce = String(topics[2]).toLowerCase()
  return isInRange && log.topics[2]?.toLowerCase() === nonce && log.data === '0x'
}

const sending = z.object({
  id: z.unknown(),
  method: z.literal('eth_sendRawTransaction'),
  params: z.tuple([hexSchema]),
})

/** Accepts transactions and does not pass them on. */
export const swallowing: Lie = {
  asked: (body) => body.replaceAll('"eth_sendRawTransaction"', '"eth_chainId"'),
  told: (body, asked) => {
    const sent = sending.safeParse(JSON.parse(asked))
    if (!sent.success) return body
    const { id, params } = sent.data
    return JSON.stringify({ jsonrpc: '2.0', id, result: keccak256(params[0]) })
  },
}

const history = z.looseObject({
  baseFeePerGas: z.array(z.unknown()),
  reward: z.array(z.unknown()).nullish(),
})

/** Reports a gas price of almost zero. */
export const cheap: Lie = saying('eth_feeHistory', (read) => {
  const told = history.parse(read)
  const baseFeePerGas = told.baseFeePerGas.map(() => '0x1')
  return { ...told, baseFeePerGas, reward: told.reward?.map(() => ['0x1']) }
})
