/** A hundred purchases at once, at the official merchant with a facilitator that serialises. */
import * as z from 'zod'
import { startFacilitator } from '../local/chain/facilitator.ts'
import { startMerchant } from '../local/chain/merchants.ts'
import type { Figure } from './report.ts'
import { inParallel } from './runtimes.ts'
import type { BenchWorld } from './world.ts'

const purchases = 100
const payers = 10
const preparedBody = z.object({ attempt_id: z.uuid() })
const executedBody = z.object({ status: z.string() })

/** Measures the share of the purchases that are settled. */
export async function benchPurchases(world: BenchWorld): Promise<Figure[]> {
  const facilitator = await startFacilitator({ chains: [world.chain] })
  const merchant = await startMerchant({ facilitatorUrl: facilitator.url, chains: [world.chain] })
  try {
    const keys = await Promise.all(Array.from({ length: payers }, async () => world.payer()))
    const statuses: string[] = []
    const began = performance.now()
    await inParallel(purchases, purchases, async (at) => {
      statuses.push(await buy(world, keys[at % payers]?.key ?? '', merchant.v2Url))
    })
    const detail = {
      settled: statuses.filter((status) => status === 'settled').length,
      seconds: (performance.now() - began) / 1_000,
    }
    const value = detail.settled / purchases
    return [{ name: '100 purchases at once, settled', value, target: 1, isMinimum: true, detail }]
  } finally {
    await merchant.close()
    await facilitator.close()
  }
}

async function buy(world: BenchWorld, key: string, url: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await fetch(`${world.url}/${path}`, init)).json()
  }
  const prepared = preparedBody.safeParse(await post('x402-payment-prepare', { resource_url: url }))
  if (!prepared.success) return 'not prepared'
  const order = { attempt_id: prepared.data.attempt_id, user_confirmed: true }
  const executed = executedBody.safeParse(await post('x402-payment-execute', order))
  return executed.success ? executed.data.status : 'refused'
}
