/** Call order 1 of SPEC section 4.3: one alias pays another. */
import * as z from 'zod'
import type { Client } from './client.ts'
import { mustBe, mustSettle, usdcOf } from './client.ts'
import type { WorldFile } from './world-file.ts'

const identity = z.object({
  alias: z.string(),
  mail_address: z.string(),
  limits: z.object({ automatic_daily: z.object({ left_usd: z.string() }) }),
})
const balances = z.object({ total_usd: z.string(), available_usd: z.string() })
const recipient = z.object({ address: z.string(), requires_user_confirm: z.boolean() })
const transfer = z.object({
  transfer_id: z.uuid(),
  requires_user_confirm: z.boolean(),
  summary: z.string(),
  tx_hash: z.string().optional(),
})
const amount = '1.25'
const amountAtomic = 1_250_000n

export async function payByAlias(world: WorldFile, agent: Client): Promise<void> {
  console.log(`\nPaying ${amount} USDC to ${world.shop.alias}`)
  const me = await agent.get('/get-identity', identity)
  const held = await agent.post('/get-wallet-balances', {}, balances)
  console.log(`  ${me.mail_address}: ${held.total_usd} USD, of it ${held.available_usd} available`)
  const found = await agent.post(
    '/resolve-transfer-recipient',
    { recipient: world.shop.alias },
    recipient,
  )
  mustBe('the address behind the alias', found.address, world.shop.address)
  const before = await usdcOf(world, world.shop.address)
  const order = { recipient: world.shop.alias, chain: 'base-sepolia', token: 'USDC', amount }
  const asked = await agent.post('/wallet-custodial-transfer', order, transfer)
  const sent = asked.requires_user_confirm ? await confirm(agent, order, asked) : asked
  await mustSettle(agent, sent.tx_hash)
  const received = (await usdcOf(world, world.shop.address)) - before
  mustBe('what the payee received, in atomic units', received, amountAtomic)
}

/** Where a person is asked; the demo says yes. */
function confirm(agent: Client, order: object, asked: z.output<typeof transfer>) {
  console.log(`  "${asked.summary}" - confirmed by the user`)
  const { transfer_id } = asked
  const body = { ...order, transfer_id, user_confirmed: true }
  return agent.post('/wallet-custodial-transfer', body, transfer)
}
