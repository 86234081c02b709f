/**
 * An account that looks used: payments that went out, a deposit, and payments that wait for the
 * owner, all made by an agent through the interface.
 */
import * as z from 'zod'
import type { WorldFile } from '../demo/world-file.ts'
import { fund } from '../local/fund.ts'

/** What a page about one thing is opened with. */
export type Stage = {
  /** A payment that waits for the owner. */
  payment: string
  /** An entry of the feed. */
  activity: string
}

const transfer = z.object({ transfer_id: z.uuid(), requires_user_confirm: z.boolean() })
const attempt = z.object({ attempt_id: z.uuid() })
const feed = z.object({ items: z.array(z.object({ activity_id: z.string() })).min(1) })

export async function setStage(world: WorldFile): Promise<Stage> {
  const agent = openAgent(world.base_url, world.api_keys.pay)
  for (const amount of ['1.25', '4', '0.75']) {
    await pay(agent, { recipient: world.shop.alias, amount, memo: 'Index of papers' })
  }
  const resource_url = world.merchant.v2_url
  const { attempt_id } = await agent('/x402-payment-prepare', { resource_url }, attempt)
  await agent('/x402-payment-execute', { attempt_id, user_confirmed: true }, z.unknown())
  const [chain] = world.chains
  if (chain) {
    const tokens = { rpcUrl: chain.rpc_url, usdc: hex.parse(chain.usdc) }
    await fund(tokens, hex.parse(world.owner.address), { usdcAtomic: 12_500_000n })
  }
  const orders = [
    { recipient: world.payee, amount: '320', memo: 'Invoice 2217, translation' },
    { recipient: world.shop.alias, amount: '260' },
  ]
  const waiting = []
  for (const order of orders) waiting.push(await pay(agent, order))
  const { items } = await agent('/wallet-activity-list', undefined, feed)
  return { payment: waiting[0] ?? '', activity: items[0]?.activity_id ?? '' }
}

const hex = z.templateLiteral(['0x', z.string()])

type Agent = <Body>(path: string, body: unknown, schema: z.ZodType<Body>) => Promise<Body>

/** Calls operations with a key: GET without a body. */
export function openAgent(baseUrl: string, key: string): Agent {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return async (path, body, schema) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(`${baseUrl}${path}`, { ...sent, headers })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
    return schema.parse(JSON.parse(text))
  }
}

/** Pays what the agent may pay on its own word; what it may not waits for the owner. */
async function pay(agent: Agent, order: object): Promise<string> {
  const path = '/wallet-custodial-transfer'
  const body = { chain: 'base-sepolia', token: 'USDC', ...order }
  const asked = await agent(path, body, transfer)
  if (asked.requires_user_confirm) {
    await agent(path, { ...body, transfer_id: asked.transfer_id, user_confirmed: true }, transfer)
  }
  return asked.transfer_id
}
