/** Tools of the conformance suite that fail, report progress, log, or have an unusual schema. */
import type { McpServer } from '@modelcontextprotocol/server'
import { fromJsonSchema } from '@modelcontextprotocol/server'
import * as z from 'zod'

const none = z.object({})
const done = { content: [{ type: 'text' as const, text: 'Done.' }] }

/** Registers these tools. */
export function addBehaviour(server: McpServer): void {
  server.registerTool('test_error_handling', { description: 'Fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  const progress = { description: 'Tells of progress', inputSchema: none }
  server.registerTool('test_tool_with_progress', progress, async (_args, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const step of progressToken === undefined ? [] : [0, 50, 100]) {
      const params = { progressToken, progress: step, total: 100 }
      await mcpReq.notify({ method: 'notifications/progress', params })
    }
    return done
  })
  const logging = { description: 'Logs', inputSchema: none }
  server.registerTool('test_tool_with_logging', logging, async (_args, { mcpReq }) => {
    for (const data of ['started', 'processing data', 'completed']) {
      const params = { level: 'info', data: `Tool execution ${data}` }
      await mcpReq.notify({ method: 'notifications/message', params })
    }
    return done
  })
  server.registerTool('test_logging_tool', logging, async (_args, { mcpReq }) => {
    await mcpReq.log('info', 'Told only to who asked for it')
    return done
  })
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Has a schema of many parts', inputSchema: fromJsonSchema(manyParts) },
    () => done,
  )
  const region = z.string().meta({ 'x-mcp-header': 'Region' }).optional()
  server.registerTool(
    'test_x_mcp_header',
    { description: 'Has an argument that is also a header', inputSchema: z.object({ region }) },
    () => done,
  )
}

const manyParts = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  // oxlint-disable-next-line unicorn/no-thenable
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}
