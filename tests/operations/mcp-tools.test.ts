/** The tools match the operations, and answer clients of both revisions of the protocol. */
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { contracts } from '../../functions/contracts.ts'
import { annotated, annotationsOf } from '../../shared/contract/annotations.ts'
import { contractDigest } from '../../shared/contract/digest.ts'
import { requestSchema, responseSchema } from '../../shared/contract/documents/json-schema.ts'
import { textWith } from '../support/matching.ts'
import type { Fetch } from '../support/mcp.ts'
import { callAtOnce, connectLegacy, connectModern, toolsIn } from '../support/mcp.ts'
import type { Agent, TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'

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

test.each(clients)('lists one tool for each operation ($revision)', async ({ connect }) => {
  const client = await connect(fetch, agent.key)

  const { tools } = await client.listTools()

  expect(tools.map(({ name }) => name)).toEqual(contracts.map(({ id }) => id))
  for (const [at, contract] of contracts.entries()) {
    const { title, ...annotations } = annotationsOf(contract)
    expect(tools[at]).toMatchObject({
      title,
      annotations,
      description: textWith(contract.summary),
      inputSchema: requestSchema(contract),
      outputSchema: responseSchema(contract),
      _meta: { scope: contract.access, contract_digest: contractDigest },
    })
    expect(tools[at]?._meta?.['gap_id']).toBe(contract.gap)
  }
})

test('annotations name operations that there are, and none that changes something only reads', () => {
  const ids = contracts.map(({ id }) => id)

  expect(annotated.filter((id) => !ids.includes(id))).toEqual([])
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
  const crossed = await callAtOnce(world, fetch, { calls: 200, inFlight: 200 })

  expect(crossed).toEqual([])
})
