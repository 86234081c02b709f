/** Call order 2 of SPEC section 4.3: a resource that answers 402 is paid for. */
import * as z from 'zod'
import type { Client } from './client.ts'
import { mustBe, mustSettle, usdcOf } from './client.ts'
import type { WorldFile } from './world-file.ts'

const prepared = z.object({
  attempt_id: z.uuid(),
  requires_user_confirm: z.boolean(),
  summary: z.string(),
  terms: z.object({ amount_atomic: z.string(), pay_to: z.string() }),
})
const executed = z.object({
  status: z.string(),
  tx_hash: z.string(),
  response: z.object({ status: z.int(), body: z.string() }),
})
const feed = z.object({
  items: z.array(z.object({ category: z.string(), tx_hash: z.string().optional() })),
})

export async function payMerchant(
  world: WorldFile,
  agent: Client,
  merchant: { name: string; url: string },
): Promise<void> {
  console.log(`\nPaying ${merchant.url} (${merchant.name})`)
  const request = { resource_url: merchant.url }
  const attempt = await agent.post('/x402-payment-prepare', request, prepared)
  if (attempt.requires_user_confirm) console.log(`  "${attempt.summary}" - confirmed by the user`)
  const before = await holdings(world, attempt.terms.pay_to)
  const order = { attempt_id: attempt.attempt_id, user_confirmed: attempt.requires_user_confirm }
  const paid = await agent.post('/x402-payment-execute', order, executed)
  mustBe('the status of the attempt', paid.status, 'settled')
  console.log(`  the merchant answered ${paid.response.status}: ${paid.response.body.slice(0, 60)}`)
  const after = await holdings(world, attempt.terms.pay_to)
  mustBe('what the merchant received', after.payee - before.payee, attempt.terms.amount_atomic)
  mustBe('what the wallet paid', before.payer - after.payer, attempt.terms.amount_atomic)
  const { tx_hash } = paid
  await mustSettle(agent, tx_hash)
  const { items } = await agent.get('/wallet-activity-list?category=x402&limit=5', feed)
  const item = items.find((entry) => entry.tx_hash === tx_hash)
  mustBe('the category in the feed', item?.category, 'x402')
}

async function holdings(world: WorldFile, payTo: string) {
  return {
    payer: await usdcOf(world, world.owner.address),
    payee: await usdcOf(world, payTo),
  }
}
