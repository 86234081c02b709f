/** What the database says of payments beside what the chain's logs show. */
import * as z from 'zod'
import { callRpc } from '../local/rpc.ts'
import type { BenchWorld } from './world.ts'

const paymentRows = z.array(z.object({ state: z.string(), payee: z.string() }))

/** Counts where the two differ, for the payees that were asked for. */
export async function compare(world: BenchWorld, asked: ReadonlySet<string>) {
  const paid = await paidFrom(world)
  const rows = await world.sql`select state, lower(payee) as payee from private.payments`
  const own = paymentRows.parse([...rows]).filter(({ payee }) => asked.has(payee))
  const times = (payee: string) => paid.get(payee) ?? 0
  const settled = own.filter(({ state }) => state === 'settled')
  const ended = own.filter(({ state }) => ['failed', 'released', 'expired'].includes(state))
  return {
    settled: settled.length,
    'released or failed': ended.length,
    'paid twice': [...asked].filter((payee) => times(payee) > 1).length,
    'failed though paid': ended.filter(({ payee }) => times(payee) > 0).length,
    differences:
      settled.filter(({ payee }) => times(payee) !== 1).length +
      [...asked].filter((payee) => times(payee) > 0).length -
      settled.length,
  }
}

const logRows = z.array(z.object({ topics: z.array(z.string()) }))
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** How often each address was paid on the chain as it is now. */
async function paidFrom({ chain }: BenchWorld): Promise<Map<string, number>> {
  const [head] = await callRpc(chain.rpcUrl, [['eth_blockNumber']])
  const paid = new Map<string, number>()
  for (let from = 0; from <= Number(head); from += 50) {
    const [fromBlock, toBlock] = [from, Math.min(from + 49, Number(head))].map(
      (block) => `0x${block.toString(16)}`,
    )
    const filter = { address: chain.usdc, topics: [transferTopic], fromBlock, toBlock }
    const [answer] = await callRpc(chain.rpcUrl, [['eth_getLogs', filter]])
    for (const { topics } of logRows.parse(answer)) {
      const payee = `0x${(topics[2] ?? '').slice(26)}`
      paid.set(payee, (paid.get(payee) ?? 0) + 1)
    }
  }
  return paid
}
