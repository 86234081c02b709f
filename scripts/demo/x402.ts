/** Second call order of skill.md: paying for a resource that answers 402. */
import type { AccountClient } from '../client/index.ts'
import { mustBe, mustSettle, usdcOf, type WorldFile } from './client.ts'

/** Buys a resource and checks what both sides paid and received on the chain. */
export async function payMerchant(
  world: WorldFile,
  agent: AccountClient,
  merchant: { name: string; url: string },
): Promise<void> {
  console.log(`\nPaying ${merchant.url} (${merchant.name})`)
  const request = { resource_url: merchant.url }
  const attempt = await agent.x402PaymentPrepare(request)
  if (attempt.requires_user_confirm) console.log(`  "${attempt.summary}" - confirmed by the user`)
  const before = await holdings(world, attempt.terms.pay_to)
  const order = { attempt_id: attempt.attempt_id, user_confirmed: attempt.requires_user_confirm }
  const paid = await agent.x402PaymentExecute(order)
  mustBe('the status of the attempt', paid.status, 'settled')
  const { tx_hash, response: said } = paid
  console.log(`  the merchant answered ${said?.status}: ${said?.body?.slice(0, 60)}`)
  const after = await holdings(world, attempt.terms.pay_to)
  mustBe('what the merchant received', after.payee - before.payee, attempt.terms.amount_atomic)
  mustBe('what the wallet paid', before.payer - after.payer, attempt.terms.amount_atomic)
  await mustSettle(agent, tx_hash)
  const { items } = await agent.walletActivityList({ category: 'x402', limit: '5' })
  const item = items.find((entry) => entry.tx_hash === tx_hash)
  mustBe('the category in the feed', item?.category, 'x402')
}

async function holdings(world: WorldFile, payTo: string) {
  return {
    payer: await usdcOf(world, world.owner.address),
    payee: await usdcOf(world, payTo),
  }
}
