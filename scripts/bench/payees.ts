/** Reads from the token's own Transfer logs who was paid on the chain. Addresses are in lower case. */
import * as z from 'zod'
import type { Chain } from '../local/chain.ts'
import { callRpc } from '../local/rpc.ts'
import type { BenchWorld } from './world.ts'

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const logRows = z.array(z.object({ topics: z.array(z.string()) }))

/** Returns the payees of all transfers in a range of blocks, each as often as it was paid. */
export async function paidIn({ rpcUrl, usdc }: Chain, first: number, last: number) {
  const [fromBlock, toBlock] = [first, last].map((block) => `0x${block.toString(16)}`)
  const filter = { address: usdc, topics: [transferTopic], fromBlock, toBlock }
  const [answer] = await callRpc(rpcUrl, [['eth_getLogs', filter]])
  return logRows.parse(answer).map(({ topics }) => `0x${(topics[2] ?? '').slice(26)}`)
}

/** Returns the number of the latest block. */
export async function headOf({ rpcUrl }: Chain): Promise<number> {
  const [head] = await callRpc(rpcUrl, [['eth_blockNumber']])
  return Number(z.string().parse(head))
}

/** Counts from now on how often each payee was paid, and notes when that was last seen. */
export async function watchPayees({ chain }: BenchWorld) {
  const seen = new Map<string, { times: number; at: number }>()
  let next = (await headOf(chain)) + 1
  const look = async () => {
    const head = await headOf(chain)
    if (head < next) return
    const first = next
    next = head + 1
    const paid = await paidIn(chain, first, head)
    const at = performance.now()
    for (const payee of paid) seen.set(payee, { times: (seen.get(payee)?.times ?? 0) + 1, at })
  }
  return { seen, look }
}
