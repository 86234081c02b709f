/**
 * A signature that is used late counts for a day from then: its block was taken back, and the chain went
 * on hours later with old timestamps, as after an outage of its sequencer.
 */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { callRpc, transact } from '../../scripts/local/rpc.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { newKey } from '../support/chain-world.ts'
import { reorg } from '../support/deposits.ts'
import { node } from '../support/faults/chain.ts'
import { serverThat } from '../support/http.ts'
import { attemptOf, execute, openMarket, prepare } from '../support/market.ts'
import { authorizationCall } from '../support/signed-call.ts'
import { challengeV2, headerOf, requirementV2 } from '../support/x402.ts'

const market = await openMarket()
const { chain, world, db } = market
const hour = 3_600
const cap = 10_000_000n
const stranger = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
await callRpc(chain.rpcUrl, [['anvil_autoImpersonateAccount', true]])

const header = z.object({
  payload: z.object({
    authorization: z.object({
      from: z.string(),
      to: z.string(),
      value: z.string(),
      validAfter: z.string(),
      validBefore: z.string(),
      nonce: z.string(),
    }),
    signature: z.string(),
  }),
})

/** Starts a merchant that delivers for every signature and leaves its use to somebody else. */
async function patientShop() {
  const held: string[] = []
  const asked = requirementV2({ amount: String(cap), payTo: newKey().at, maxTimeoutSeconds: 300 })
  const shop = await serverThat((response, { headers }) => {
    const brought = headers['payment-signature']
    if (brought === undefined) {
      response.writeHead(402, { 'payment-required': headerOf(challengeV2([asked])) }).end('{}')
      return
    }
    const text = Buffer.from(String(brought), 'base64').toString()
    const { authorization, signature } = header.parse(JSON.parse(text)).payload
    held.push(authorizationCall({ ...authorization, signature }))
    response.writeHead(200).end('{}')
  })
  const use = async () => {
    await transact(
      chain.rpcUrl,
      stranger,
      chain.usdc,
      z.templateLiteral(['0x', z.string()]).parse(held.at(-1)),
    )
  }
  return { url: shop.url, use }
}

test.each([
  ['an hour', 1],
  ['six hours', 6],
])('what leaves %s late counts for a day from when it left', async (_, hours) => {
  const agent = await market.agent('pay', { usdc: 100 })
  await db.sql`update private.accounts set daily_spending_cap_usd_micros = ${String(cap)}
    where id = ${agent.id}`
  const { url: resource_url, use } = await patientShop()
  await node(market, 'anvil_mine', '0x5')
  const buy = async () => execute(agent, attemptOf(await prepare(agent, { resource_url })))
  await buy()
  await use()
  await runHousekeeping(world)
  await reorg(market, 1)
  await market.tick(hours * hour)
  await runHousekeeping(world)

  await use()
  await runHousekeeping(world)
  await node(market, 'anvil_mine', '0x10')
  await runHousekeeping(world)
  await market.tick(24 * hour - 60)
  const early = await prepare(agent, { resource_url })
  await market.tick(120)
  const later = await prepare(agent, { resource_url })

  expect(await market.usdcOf(agent.address)).toBe(100_000_000n - cap)
  expect(early).toMatchObject({ status: 403, body: { error: 'limit_exceeded' } })
  expect(later.status).toBe(200)
})
