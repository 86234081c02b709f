/** A payment that waits for its owner works as a tool, for clients that can open an address. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { usdcOf } from '../support/ledger.ts'
import { textWith } from '../support/matching.ts'
import {
  address,
  connectLegacy,
  connectModern,
  type Fetch,
  modern,
  toolsIn,
} from '../support/mcp.ts'
import { ownerOf } from '../support/owner.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const name = 'wallet_custodial_transfer'
/** Order above every limit on the agent's word. */
const order = { chain: 'base-sepolia', token: 'USDC', amount: '500' }

let world: TestWorld
let fetch: Fetch
let payee: Agent
let pauses = 0
let whilePaused: () => Promise<unknown>
beforeAll(async () => {
  world = await start({ chain: true })
  payee = await world.agent('read')
  const pause = async () => {
    pauses += 1
    await whilePaused()
  }
  fetch = toolsIn(world.worker({ pause }).world)
  whilePaused = async () => {}
})

/** Returns a payer with its owner, and the arguments of a transfer that the owner has to confirm. */
async function paying() {
  const payer = await world.agent('pay', { usdc: 600 })
  const owner = await ownerOf(world, payer)
  return { payer, owner, args: { ...order, recipient: payee.address } }
}

const transferOf = (url: string) => url.split('/').at(-1) ?? ''

test('the owner approves on the page, and the same call pays', async () => {
  const { payer, owner, args } = await paying()
  const opened: string[] = []
  const client = await connectModern(fetch, payer.key, async (url) => {
    opened.push(url)
    await owner.decide(transferOf(url), 'approved')
    return 'accept'
  })

  const answer = await client.callTool({ name, arguments: args })

  expect(opened).toEqual([expect.stringMatching(/^http:\/\/localhost\/web\/approve\//)])
  expect(answer.structuredContent).toMatchObject({
    transfer_id: transferOf(opened[0] ?? ''),
    status: 'submitted',
    consent_level: 'user_session',
  })
  expect(await usdcOf(world, payer)).toBe(100_000_000n)
})

test('an approval that comes while the call waits is found', async () => {
  const { payer, owner, args } = await paying()
  let transfer = ''
  const client = await connectModern(fetch, payer.key, async (url) => {
    transfer = transferOf(url)
    return 'accept'
  })
  whilePaused = () => owner.decide(transfer, 'approved')

  const answer = await client.callTool({ name, arguments: args })

  whilePaused = async () => {}
  expect(answer.structuredContent).toMatchObject({ status: 'submitted' })
})

test('that the page was opened pays nothing: the call waits a little, then answers as it stands', async () => {
  const { payer, args } = await paying()
  const client = await connectModern(fetch, payer.key, async () => 'accept')
  pauses = 0

  const answer = await client.callTool({ name, arguments: args })

  expect(pauses).toBe(7)
  expect(answer.structuredContent).toMatchObject({
    status: 'awaiting_confirmation',
    confirmation: { status: 'pending', url: textWith('/approve/') },
  })
  expect(await usdcOf(world, payer)).toBe(600_000_000n)
})

test.each(['decline', 'cancel'] as const)(
  'who %ss is not waited for, and pays nothing',
  async (action) => {
    const { payer, owner, args } = await paying()
    const client = await connectModern(fetch, payer.key, async (url) => {
      await owner.decide(transferOf(url), 'approved')
      return action
    })
    pauses = 0

    const answer = await client.callTool({ name, arguments: args })

    expect(pauses).toBe(0)
    expect(answer.structuredContent).toMatchObject({ status: 'awaiting_confirmation' })
    expect(await usdcOf(world, payer)).toBe(600_000_000n)
  },
)

test('what the owner declines is refused', async () => {
  const { payer, owner, args } = await paying()
  const client = await connectModern(fetch, payer.key, async (url) => {
    await owner.decide(transferOf(url), 'declined')
    return 'accept'
  })

  const answer = await client.callTool({ name, arguments: args })

  expect(answer.isError).toBe(true)
  expect(JSON.stringify(answer.content)).toContain('payment_closed')
})

test.each([connectLegacy, connectModern])(
  'a client that opens no addresses is told the address (%o)',
  async (connect) => {
    const { payer, args } = await paying()
    const client = await connect(fetch, payer.key)

    const answer = await client.callTool({ name, arguments: args })

    expect(answer.structuredContent).toMatchObject({
      requires_user_confirm: true,
      confirmation: { url: textWith('/approve/') },
    })
  },
)

const asked = z.object({ result: z.object({ requestState: z.string() }) })

/** Sends one round of a call as raw JSON; with a state it is the second round. */
async function round(payer: Agent, args: object, requestState?: string): Promise<unknown> {
  const again = requestState && { requestState, inputResponses: { confirm: { action: 'accept' } } }
  const params = { name, arguments: args, ...again }
  const opens = { elicitation: { url: {} } }
  return (await fetch(address, modern(payer.key, 'tools/call', params, 1, opens))).json()
}

test('the state of a call is good for this call of this caller alone', async () => {
  const { payer, args } = await paying()
  const other = (await paying()).payer
  const { requestState } = asked.parse(await round(payer, args)).result

  const ofOther = await round(other, args, requestState)
  const end = requestState.endsWith('AA') ? 'BA' : 'AA'
  const tampered = await round(payer, args, requestState.slice(0, -2) + end)
  const changed = await round(payer, { ...args, amount: '501' }, requestState)

  for (const swap of [ofOther, tampered]) expect(swap).toMatchObject({ error: { code: -32602 } })
  expect(changed).toMatchObject({ result: { isError: true } })
  await expect(round(payer, args, requestState)).resolves.toMatchObject({
    result: { structuredContent: { status: 'awaiting_confirmation' } },
  })
})

test.each([
  { revision: '2025-11-25', connect: connectLegacy },
  { revision: '2026-07-28', connect: connectModern },
])('a call that is repeated under its idempotency_key pays once ($revision)', async (client) => {
  const { payer, args } = await paying()
  const { callTool } = await connecting(client.connect, payer)
  const small = { ...args, amount: '2', user_confirmed: true }

  const first = await callTool({ ...small, idempotency_key: 'wish-1' })
  const again = await callTool({ ...small, idempotency_key: 'wish-1' })
  const other = await callTool({ ...small, idempotency_key: 'wish-2' })
  const refused = await callTool({ ...small, idempotency_key: 'no spaces' })

  expect(again.structuredContent).toEqual(first.structuredContent)
  expect(other.structuredContent).toMatchObject({ status: 'submitted' })
  expect(refused).toMatchObject({ isError: true, content: [{ text: textWith('idempotency_key') }] })
  expect(await usdcOf(world, payer)).toBe(596_000_000n)
})

test('a tool that takes no idempotency_key refuses one', async () => {
  const { payer } = await paying()
  const client = await connectModern(fetch, payer.key)

  const refused = await client.callTool({
    name: 'get_identity',
    arguments: { idempotency_key: 'wish-1' },
  })

  expect(refused).toMatchObject({ isError: true, content: [{ text: textWith('idempotency_key') }] })
})

async function connecting(connect: typeof connectLegacy | typeof connectModern, payer: Agent) {
  const client = await connect(fetch, payer.key)
  return { callTool: (args: object) => client.callTool({ name, arguments: { ...args } }) }
}
