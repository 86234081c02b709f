/** Compares preparing a payment under a mandate with preparing one that the automatic limit allows. */
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { startFacilitator } from '../local/chain/facilitator.ts'
import { startMerchant } from '../local/chain/merchants.ts'
import { fund } from '../local/chain.ts'
import { type Figure, median, quantile } from './report.ts'
import type { BenchWorld } from './world.ts'

const perRound = 20
const warmUp = 20
const preparedBody = z.object({
  attempt_id: z.uuid(),
  requires_user_confirm: z.boolean(),
  covered_by: z.object({ mandate_id: z.uuid() }).optional(),
})
const executedBody = z.object({ status: z.literal('settled') })
const mandateBody = z.object({ mandate_id: z.uuid(), digest: z.string() })

/** Measures the prepare call of two accounts in turn, of which one has a mandate. */
export async function benchCovered(world: BenchWorld, rounds: number): Promise<Figure[]> {
  const facilitator = await startFacilitator({ chains: [world.chain] })
  const merchant = await startMerchant({ facilitatorUrl: facilitator.url, chains: [world.chain] })
  try {
    const plain = await buyer(world, merchant.v2Url)
    const covered = await buyer(world, merchant.v2Url)
    await covered.approveMandate()
    const found = { plain: [] as number[], covered: [] as number[] }
    for (let at = 0; at < rounds * perRound + warmUp; at += 1) {
      const [a, b] = [await plain.prepare(false), await covered.prepare(true)]
      if (at < warmUp) continue
      found.plain.push(a)
      found.covered.push(b)
    }
    return [figureOf(found)]
  } finally {
    await merchant.close()
    await facilitator.close()
  }
}

function figureOf({ plain, covered }: Record<'plain' | 'covered', number[]>): Figure {
  return {
    name: 'prepare under a mandate, over prepare without one',
    value: median(covered) / median(plain),
    target: 1.1,
    detail: {
      'p50 ms under a mandate': median(covered),
      'p50 ms without': median(plain),
      'p95 ratio': quantile(covered, 0.95) / quantile(plain, 0.95),
    },
  }
}

/** Opens an account that has already bought at the merchant, so that nothing needs a confirmation. */
async function buyer(world: BenchWorld, url: string) {
  const { id, key, address } = await world.agent(world.sql)
  await fund(world.chain, address, { usdcAtomic: 10n ** 12n })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await fetch(`${world.url}${path}`, init)).json()
  }
  const ask = async () =>
    preparedBody.parse(await post('/x402-payment-prepare', { resource_url: url }))
  const { attempt_id } = await ask()
  const bought = await post('/x402-payment-execute', { attempt_id, user_confirmed: true })
  executedBody.parse(bought)
  return {
    async prepare(isCovered: boolean): Promise<number> {
      const began = performance.now()
      const { requires_user_confirm, covered_by } = await ask()
      const taken = performance.now() - began
      if (requires_user_confirm) throw new Error('a prepared payment waits for a confirmation')
      if ((covered_by !== undefined) !== isCovered) throw new Error('the wrong thing covers it')
      return taken
    },
    async approveMandate(): Promise<void> {
      const asked = await post('/payment-mandate-create', {
        merchant_domain: new URL(url).hostname,
        max_amount_per_payment_usd: '1',
        max_amount_per_day_usd: '1000',
        ttl_seconds: 86_400,
      })
      const { mandate_id, digest } = mandateBody.parse(asked)
      const credential = randomBytes(32).toString('hex')
      await world.sql`
        with opened as (
          insert into private.credentials (account, kind, digest, label, shown, scopes)
          values (${id}, 'session', ${credential}, 'Bench', 'session', '{owner}') returning id
        )
        insert into private.sessions (credential, signed_in_with, ends_at, user_agent, client)
        select id, 'password', 'infinity', '', '' from opened`
      await world.sql`select from api.owner_decide_mandate(
        ${credential}, ${mandate_id}, 'approved', ${digest})`
    },
  }
}
