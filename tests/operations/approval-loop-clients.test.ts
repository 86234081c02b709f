/**
 * An agent that sends what it is told to send reaches a settled payment within three calls, over HTTP and
 * with the official MCP clients of both protocol revisions. It looks again only after `wait_seconds`.
 */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { signedIn } from '../support/browserless.ts'
import { usdcOf } from '../support/ledger.ts'
import { connectLegacy, connectModern, type Fetch, toolsIn } from '../support/mcp.ts'
import { type Agent, start, type TestWorld, type Worker } from '../support/world.ts'

/** Calls a tool and returns its structured answer. */
type Call = (tool: string, args: object) => Promise<unknown>
type Place = { worker: Worker; agent: Agent }

const answerSchema = z.object({
  status: z.string().optional(),
  confirmation: z.object({ url: z.string() }).optional(),
  next: z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) }).optional(),
})
const toldSchema = z.object({ structuredContent: z.unknown() })
let world: TestWorld
beforeAll(async () => {
  world = await start({ chain: true })
})

async function overMcp(
  connect: typeof connectLegacy | typeof connectModern,
  { worker, agent }: Place,
) {
  const fetch: Fetch = toolsIn(worker.world)
  const client = await connect(fetch, agent.key)
  return async (name: string, args: object) =>
    toldSchema.parse(await client.callTool({ name, arguments: { ...args } })).structuredContent
}

const ways: { way: string; open: (place: Place) => Promise<Call> }[] = [
  {
    way: 'HTTP',
    open:
      async ({ worker, agent }) =>
      async (tool, args) =>
        (await worker.post(agent, `/${tool.replaceAll('_', '-')}`, args)).body,
  },
  { way: 'an MCP client of 2025', open: (place) => overMcp(connectLegacy, place) },
  { way: 'an MCP client of 2026', open: (place) => overMcp(connectModern, place) },
]

test.each(ways)('over $way, "pay 150 to shop" settles in three calls at most', async ({ open }) => {
  const { agent, shop, order } = await shopping()
  const owner = await signedIn(world, agent)
  let pauses = 0
  const worker = world.worker({
    pause: async () => {
      pauses += 1
      if (pauses === 30) await owner.submit({ decision: 'approved' })
    },
  })
  const call = await open({ worker, agent })

  let answer = answerSchema.parse(await call('wallet_custodial_transfer', order))
  await owner.visit(new URL(answer.confirmation?.url ?? '').pathname)
  let calls = 1
  for (; answer.next && calls < 10; calls += 1) {
    answer = answerSchema.parse(await call(answer.next.tool, answer.next.arguments))
  }

  expect(answer.status).toBe('settled')
  expect(calls).toBeLessThanOrEqual(3)
  // The owner takes 30 looks of a second each, which are answered by two calls of 25 seconds.
  expect(pauses).toBeGreaterThanOrEqual(30)
  expect(await usdcOf(world, shop)).toBe(150_000_000n)
})

test.each(ways)('over $way, an approval settles after the agent is gone', async ({ open }) => {
  const { agent, shop, order } = await shopping()
  const call = await open({ worker: world.worker(), agent })
  const { confirmation } = answerSchema.parse(await call('wallet_custodial_transfer', order))

  const owner = await signedIn(world, agent)
  await owner.visit(new URL(confirmation?.url ?? '').pathname)
  const page = await owner.submit({ decision: 'approved' })

  expect(page.text).toContain('Paid')
  expect(await usdcOf(world, shop)).toBe(150_000_000n)
})

async function shopping() {
  const agent = await world.agent('pay', { usdc: 500 })
  const shop = await world.agent('read')
  const order = { recipient: shop.alias, chain: 'base-sepolia', token: 'USDC', amount: '150' }
  return { agent, shop, order }
}
