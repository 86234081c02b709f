/** The tools work over standard input and output for official clients of both revisions. */
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { contracts } from '../../functions/contracts.ts'
import notFound from '../../functions/not-found/index.ts'
import { listen } from '../../scripts/local/process/listen.ts'
import { createApiKey } from '../../shared/auth/api-key.ts'
import { isForModels } from '../../shared/contract/documents/about.ts'
import { functionsIn } from '../support/functions.ts'
import { answering, serverThat } from '../support/http.ts'
import { modernClient, type Opens } from '../support/mcp.ts'
import { buildProgram, converse, run } from '../support/stdio.ts'
import { start } from '../support/world.ts'

const program = await buildProgram()
const world = await start({ chain: true })
const agent = await world.agent('full', { usdc: 500 })
const functions = functionsIn(world.world)
const service = await listen((request) => {
  const folder = new URL(request.url).pathname.slice(1)
  return (functions.get(folder) ?? notFound).fetch(request)
})
afterAll(() => service.close())

const unknownKey = createApiKey('test', (length) => new Uint8Array(length).fill(7))
const settings = (key = agent.key) => ({ AOA_API_KEY: key, AOA_BASE_URL: service.url })
const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const order = { recipient, chain: 'base-sepolia', token: 'USDC', amount: '450' }

const textOf = z.object({ content: z.tuple([z.object({ text: z.string() })]) })
const waitingOf = z.object({
  structuredContent: z.object({ confirmation: z.object({ url: z.string() }) }),
})
const transferOf = z.object({ structuredContent: z.object({ transfer_id: z.uuid() }) })
const refusal = z.object({ error: z.string(), message: z.string(), hint: z.string().optional() })
const refusalIn = (result: unknown) =>
  refusal.parse(JSON.parse(textOf.parse(result).content[0].text))

async function connectLegacy(key?: string) {
  const client = new Client({ name: 'guarantee', version: '1.0' })
  const command = { command: process.execPath, args: [program.file], env: settings(key) }
  await client.connect(new StdioClientTransport(command))
  onTestFinished(() => client.close())
  return client
}

async function connectModern(key?: string, opens?: Opens) {
  const client = modernClient(opens)
  const command = { command: process.execPath, args: [program.file], env: settings(key) }
  await client.connect(new ModernTransport(command))
  onTestFinished(() => client.close())
  return client
}

describe.each([
  { revision: '2025-11-25', connect: connectLegacy },
  { revision: '2026-07-28', connect: connectModern },
])('a client of revision $revision', ({ connect, revision }) => {
  test('is shown one tool for each operation and calls them', async () => {
    const client = await connect()

    const { tools } = await client.listTools()
    const identity = await client.callTool({ name: 'get_identity', arguments: {} })

    const usable = contracts.filter(isForModels)
    expect(tools.map(({ name }) => name)).toEqual(usable.map(({ id }) => id))
    expect(JSON.stringify(tools)).not.toContain('[object')
    expect(identity).toMatchObject({ structuredContent: { alias: agent.alias } })
  })

  test('is shown the tools of the scope of its key alone', async () => {
    const shown = async (scope: 'read' | 'vault') => {
      const client = await connect((await world.agent(scope)).key)
      return (await client.listTools()).tools.map(({ name }) => name)
    }

    const [reader, user] = [await shown('read'), await shown('vault')]

    expect([reader.includes('mail_read'), reader.includes('vault_use')]).toEqual([true, false])
    expect([user.includes('mail_read'), user.includes('vault_use')]).toEqual([false, true])
  })

  test('is told of a refusal in a result that a model can read', async () => {
    const client = await connect()

    const refused = await client.callTool({
      name: 'wallet_custodial_transfer',
      arguments: { ...order, chain: 'nowhere' },
    })

    expect(refused).toMatchObject({ isError: true })
    expect(refusalIn(refused).error).toBe('unsupported_chain')
  })

  test('repeats a call by its idempotency_key', async () => {
    const client = await connect()
    const ask = async (idempotency_key: string) => {
      const call = { name: 'wallet_custodial_transfer', arguments: { ...order, idempotency_key } }
      return transferOf.parse(await client.callTool(call)).structuredContent.transfer_id
    }

    const [first, again, other] = [await ask(revision), await ask(revision), await ask('other')]

    expect(again).toBe(first)
    expect(other).not.toBe(first)
  })

  test('is told that its key is not known', async () => {
    const client = await connect(unknownKey)

    const refused = await client.callTool({ name: 'get_identity', arguments: {} })

    expect(refusalIn(refused).error).toBe('unauthorized')
  })
})

test('a client that opens addresses is sent to the page on which the owner decides', async () => {
  const opened: string[] = []
  const client = await connectModern(agent.key, async (url) => {
    opened.push(url)
    return 'decline'
  })

  const result = await client.callTool({ name: 'wallet_custodial_transfer', arguments: order })

  expect(opened).toEqual([expect.stringContaining('http://localhost/web/')])
  expect(result).toMatchObject({ structuredContent: { requires_user_confirm: true } })
})

test('any other client is given the address in the answer', async () => {
  const client = await connectLegacy()

  const result = await client.callTool({ name: 'wallet_custodial_transfer', arguments: order })

  const { confirmation } = waitingOf.parse(result).structuredContent
  expect(confirmation.url).toContain('http://localhost/web/')
})

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'guarantee', version: '1.0' },
  },
}
const call = (id: number, name: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
})

test.each([
  { what: 'is down', answer: undefined, code: 'network_error' },
  { what: 'answers a page', answer: answering(200, {}, '<html>'), code: 'unexpected_answer' },
  {
    what: 'answers an error page',
    answer: answering(500, {}, '<html>'),
    code: 'unexpected_answer',
  },
  { what: 'answers nothing', answer: answering(204), code: 'unexpected_answer' },
])('writes messages of the protocol alone when the service $what', async ({ answer, code }) => {
  const url = answer ? (await serverThat(answer)).url : 'http://127.0.0.1:9'
  const env = { AOA_API_KEY: unknownKey, AOA_BASE_URL: url }
  const odd = ['this is no JSON', '{"jsonrpc":"2.0"}', '[]', '']

  const { answers, code: exit } = await converse(program, env, [
    initialize,
    ...odd,
    call(2, 'get_identity'),
    call(3, 'no_such_tool'),
  ])

  const found = answers.find(({ id }) => id === 2)
  expect(refusalIn(found?.['result']).error).toBe(code)
  expect(answers.some(({ id }) => id === 3)).toBe(true)
  expect(exit).toBe(0)
})

test('ends with 0 when its input ends, also while a call is under way', async () => {
  const silent = await serverThat(() => {})
  const env = { AOA_API_KEY: unknownKey, AOA_BASE_URL: silent.url }
  const notification = { jsonrpc: '2.0', method: 'notifications/initialized' }
  const unanswered = JSON.stringify(call(2, 'get_identity'))

  const { code } = await converse(program, env, [unanswered, notification, initialize])

  expect(code).toBe(0)
})

test.each([
  ['AOA_API_KEY', { AOA_API_KEY: '' }],
  ['AOA_API_KEY', { AOA_API_KEY: `${unknownKey}x` }],
  ['AOA_BASE_URL', { AOA_BASE_URL: '' }],
  ['AOA_BASE_URL', { AOA_BASE_URL: 'account.example' }],
  ['AOA_BASE_URL', { AOA_BASE_URL: 'http://account.example' }],
])('ends with 2 and names %s when it is %o', async (name, wrong) => {
  const { code, stdout, stderr } = await run(program, [], { ...settings(unknownKey), ...wrong })

  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(new RegExp(`^${name} is`))
  expect(stderr).not.toContain(unknownKey)
})

test('tells its use and its version', async () => {
  const help = await run(program, ['--help'], {})
  const version = await run(program, ['--version'], {})
  const unknown = await run(program, ['--port', '1'], {})

  expect([help.code, version.code, unknown.code]).toEqual([0, 0, 2])
  for (const name of ['AOA_API_KEY', 'AOA_BASE_URL', 'AOA_DEVICE_ID']) {
    expect(help.stdout).toContain(name)
  }
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect(unknown.stdout).toBe('')
})
