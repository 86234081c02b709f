/** Compares the gas of a transfer in a full batch with a single relay and with a plain ERC-20 transfer. */
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { fund } from '../local/chain.ts'
import { callRpc } from '../local/rpc.ts'
import { freshPayee, inParallel, productArm, waitingArm } from './arms.ts'
import type { Figure } from './report.ts'
import type { BenchWorld } from './world.ts'

const queue = 25
const looksMax = 500
const receipt = z.object({ gasUsed: z.string().transform(Number) }).nullable()
const hashes = z.array(z.object({ tx_hash: z.string(), calls: z.coerce.number() }))
const sent = z.object({ transactionHash: z.string() })

/** Measures gas with payees and payers that keep some of the token: no storage slot is new or emptied. */
export async function benchGas(world: BenchWorld): Promise<Figure[]> {
  const payees = Array.from({ length: queue + 2 }, freshPayee)
  for (const payee of payees) await fund(world.chain, payee, { usdcAtomic: 1n })
  const [ours, plain] = [await productArm(world, 1), await waitingArm(world)]
  const direct = sent.parse(await plain(payees[queue] ?? '0x')).transactionHash
  await ours(payees[queue + 1] ?? '0x')
  const single = await transactionWith(world, 1)
  await holdLanes(world, '1 hour')
  await inParallel(queue - 1, 4, async (at) => ours(payees[at] ?? '0x'))
  await holdLanes(world, '0')
  await ours(payees[queue - 1] ?? '0x')
  const batch = await transactionWith(world, queue)
  const [directGas, singleGas, batchGas] = await Promise.all(
    [direct, single, batch].map((hash) => gasOf(world, hash)),
  )
  const each = (batchGas ?? Number.NaN) / queue
  const detail = { 'in a batch': each, 'relayed alone': singleGas ?? 0, direct: directGas ?? 0 }
  return [
    {
      name: 'gas at a queue of 25, over a single relay',
      value: each / (singleGas ?? 0),
      target: 0.62,
      detail,
    },
    {
      name: 'gas at a queue of 25, over a direct transfer',
      value: each / (directGas ?? 0),
      target: 1.16,
      detail,
    },
  ]
}

/** Takes the lease of every lane for this time, so that transfers have to wait. */
function holdLanes({ sql }: BenchWorld, time: string) {
  return sql`update private.relay_lanes set lease = gen_random_uuid(),
    leased_until = clock_timestamp() + ${time}::interval`
}

async function transactionWith({ sql }: BenchWorld, calls: number): Promise<string> {
  const rows = await sql`select t.tx_hash, count(*) as calls from private.relay_transactions t
    join private.relay_calls c on c.slot = t.slot group by 1 order by count(*) = ${calls} desc`
  const [first] = hashes.parse([...rows])
  if (first?.calls !== calls) throw new Error(`no transaction carries ${calls} transfers`)
  return first.tx_hash
}

async function gasOf({ chain }: BenchWorld, hash: string): Promise<number> {
  for (let look = 0; look < looksMax; look += 1) {
    const [answer] = await callRpc(chain.rpcUrl, [['eth_getTransactionReceipt', hash]])
    const found = receipt.parse(answer)
    if (found) return found.gasUsed
    await pause(20)
  }
  throw new Error(`${hash} is not mined`)
}
