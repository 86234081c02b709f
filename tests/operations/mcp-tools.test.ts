/** The tools match the operations, and answer clients of both revisions of the protocol. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { contracts } from '../../functions/contracts.ts'
import { annotationsOf } from '../../shared/contract/annotations.ts'
import { contractDigest } from '../../shared/contract/digest.ts'
import { isForModels } from '../../shared/contract/documents/about.ts'
import { responseSchema } from '../../shared/contract/documents/openapi.ts'
import { callAtOnce, connectLegacy, connectModern, type Fetch, toolsIn } from '../support/mcp.ts'
import { type Agent, start, type TestWorld } from '../support/world.ts'

const clients = [
  { revision: '2025-11-25', connect: connectLegacy },
  { revision: '2026-07-28', connect: connectModern },
]

let world: TestWorld
let agent: Agent
let fetch: Fetch
beforeAll(async () => {
  world = await start()
  agent = await world.agent('read')
  fetch = toolsIn(world.world)
})

const usable = contracts.filter(
  (contract) => isForModels(contract) && contract.gap !== 'GAP_DEFI_AUTOMATION_V1',
)

test.each(clients)('lists one tool for each operation ($revision)', async ({ connect }) => {
  const client = await connect(fetch, (await world.agent('full')).key)

  const { tools } = await client.listTools()

  expect(tools.map(({ name }) => name)).toEqual(usable.map(({ id }) => id))
  for (const [at, contract] of usable.entries()) {
    const { title, ...annotations } = annotationsOf(contract)
    expect(tools[at]).toMatchObject({
      title,
      annotations,
      description: contract.summary,
      inputSchema: { type: 'object' },
      outputSchema: responseSchema(contract),
      _meta: { scope: contract.access, contract_digest: contractDigest },
    })
    expect(tools[at]?._meta?.['gap_id']).toBe(contract.gap)
  }
  expect(client.getInstructions()).toMatch(/confirmation\.url.*`next`/)
})

test('the tools of vaults are listed where the operator offers some', async () => {
  const { config } = world.world
  const offering = { ...world.world, config: { ...config, YIELD_VAULTS: '{"eip155:1":{}}' } }
  const client = await connectModern(toolsIn(offering), (await world.agent('full')).key)

  const { tools } = await client.listTools()

  expect(tools.map(({ name }) => name)).toContain('defi_order_create')
})

test('all tools that a key can use cost a model at most 5,000 tokens', async () => {
  const client = await connectModern(fetch, (await world.agent('full')).key)

  const { tools } = await client.listTools()

  const read = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
  }))
  const characters = read.reduce((sum, tool) => sum + JSON.stringify(tool).length, 0)
  expect(characters / 4).toBeLessThanOrEqual(5_000)
})

test.each([
  {
    scope: 'read' as const,
    shown: 'transfer_status',
    hidden: ['x402_payment_execute', 'vault_use'],
  },
  { scope: 'vault' as const, shown: 'vault_use', hidden: ['get_identity', 'mail_send'] },
  { scope: 'pay' as const, shown: 'wallet_custodial_transfer', hidden: ['create_account'] },
])('a key of $scope is shown the tools of its scope alone', async ({ scope, shown, hidden }) => {
  const client = await connectModern(fetch, (await world.agent(scope)).key)

  const { tools } = await client.listTools()

  const names = tools.map(({ name }) => name)
  expect(names).toContain(shown)
  expect(names).toEqual(expect.arrayContaining(['account_freeze']))
  expect(hidden.filter((name) => names.includes(name))).toEqual([])
})

test('no operation that changes something is annotated as one that only reads', () => {
  for (const contract of contracts) {
    const { readOnlyHint, destructiveHint } = annotationsOf(contract)
    expect([contract.id, readOnlyHint && (contract.mutates || destructiveHint)]).toEqual([
      contract.id,
      false,
    ])
  }
})

test.each(clients)('answers what the operation answers ($revision)', async ({ connect }) => {
  const client = await connect(fetch, agent.key)

  const answer = await client.callTool({ name: 'get_identity', arguments: {} })

  const { body } = await agent.get('/get-identity')
  expect(answer).toMatchObject({ structuredContent: body })
  expect(answer.content).toEqual([{ type: 'text', text: JSON.stringify(body) }])
})

test.each(clients)('answers a refusal with its code and hint ($revision)', async ({ connect }) => {
  const client = await connect(fetch, agent.key)
  const args = { recipient: 'nobody-has-this-alias' }

  const answer = await client.callTool({ name: 'resolve_transfer_recipient', arguments: args })

  const [{ text }] = z.tuple([z.object({ text: z.string() })]).parse(answer.content)
  expect(answer.isError).toBe(true)
  expect(JSON.parse(text)).toMatchObject({ error: 'recipient_not_found' })
})

test('arguments of a tool that reads become the query of its operation', async () => {
  const client = await connectModern(fetch, agent.key)

  const some = await client.callTool({ name: 'wallet_activity_list', arguments: { limit: 3 } })
  const wrong = await client.callTool({ name: 'wallet_activity_list', arguments: { limit: [3] } })

  expect(some.isError).toBeUndefined()
  expect(wrong.isError).toBe(true)
})

test('an answer never reaches another caller, however many call at once with the same id', async () => {
  // With more in flight, some wait for the database longer than a call may on a busy machine.
  const crossed = await callAtOnce(world, fetch, { calls: 200, inFlight: 100 })

  expect(crossed).toEqual([])
})
