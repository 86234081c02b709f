import { expect, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { contractDigest } from '../../shared/contract/digest.ts'
import { requestSchema, responseSchema } from '../../shared/contract/json-schema.ts'
import { connectLegacy, connectModern, toolsIn } from '../support/mcp.ts'
import { start } from '../support/world.ts'

const world = await start()
const fetch = toolsIn(world.world)
const agent = await world.agent('full')
const clients = [
  { revision: '2025-11-25', connect: connectLegacy },
  { revision: '2026-07-28', connect: connectModern },
]

test.each(clients)('lists one tool for each operation ($revision)', async ({ connect }) => {
  const client = await connect(fetch, agent.key)

  const { tools } = await client.listTools()

  expect(tools.map(({ name }) => name)).toEqual(contracts.map(({ id }) => id))
  for (const [at, contract] of contracts.entries()) {
    expect(tools[at]).toMatchObject({
      description: expect.stringContaining(contract.summary),
      inputSchema: requestSchema(contract),
      outputSchema: responseSchema(contract),
      _meta: { scope: contract.access, contract_digest: contractDigest },
    })
    expect(tools[at]?._meta?.['gap_id']).toBe(contract.gap)
  }
})
