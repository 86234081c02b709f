/**
 * Checks that relayers carried no more transfers than one account may have in a day. It reads the receipts of
 * everything sent and counts transfers by their calls.
 */
import { keccak256, Transaction } from 'ethers'
import * as z from 'zod'
import { callRpc } from '../../../scripts/local/chain/rpc.ts'
import type { Play } from './play.ts'

/** Seconds of a day, minus the longest time between a signature and its block. */
const windowSeconds = 86_400 - 15 * 60
const transfer = /e3ee160e|cf092995/g

const receipts = z.array(z.nullable(z.object({ blockNumber: z.string() })))
const block = z.object({ timestamp: z.string().transform(BigInt) })

type Carried = { at: number; calls: number }

/** Returns a description of the exceeded bound; undefined if it is kept. */
export async function brokenGasBudget(play: Play): Promise<string | undefined> {
  const { sql } = play.world.db
  const [terms] = await sql<{ calls: number }[]>`
    select calls_per_day as calls from private.gas_terms
     where chain in (0, ${play.world.chain.chainId}) order by chain desc limit 1`
  const carried = await carriedByGasPayers(play)
  for (const { at: end } of carried) {
    const window = carried.filter(({ at }) => at > end - windowSeconds && at <= end)
    const calls = window.reduce((sum, one) => sum + one.calls, 0)
    if (terms && calls > terms.calls) return `gas: ${calls} transfers a day, of ${terms.calls}`
  }
  return undefined
}

async function carriedByGasPayers({ network, world, gasPayers }: Play): Promise<Carried[]> {
  const raws = [...network.accepted].filter((raw) => isOfGasPayer(raw, gasPayers.addresses))
  const { rpcUrl } = world.chain
  const ask = raws.map((raw) => ['eth_getTransactionReceipt', keccak256(raw)] as const)
  const found = ask.length === 0 ? [] : receipts.parse(await callRpc(rpcUrl, ask))
  const mined = found.flatMap((receipt, at) => (receipt ? [{ receipt, raw: raws[at] ?? '' }] : []))
  const blocks = mined.map(
    ({ receipt }) => ['eth_getBlockByNumber', receipt.blockNumber, false] as const,
  )
  const times = blocks.length === 0 ? [] : await callRpc(rpcUrl, blocks)
  return mined.map(({ raw }, at) => ({
    at: Number(block.parse(times[at]).timestamp),
    calls: [...raw.matchAll(transfer)].length,
  }))
}

function isOfGasPayer(raw: string, gasPayers: readonly string[]): boolean {
  const { from } = Transaction.from(raw)
  return gasPayers.some((gasPayer) => gasPayer.toLowerCase() === from?.toLowerCase())
}
