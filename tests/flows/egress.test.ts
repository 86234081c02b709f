import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { functionFolders } from '../../scripts/build/functions.ts'
import { readFunctions } from '../../scripts/local/functions.ts'
import { type Listening, listen } from '../../scripts/local/process/listen.ts'
import { choosePorts } from '../../scripts/local/process/ports.ts'
import { startWorkers, type Workers } from '../../scripts/local/workers.ts'

/** Code of a compromised function: it does what its caller says and reveals what it holds. */
const rogue = `
import { connect } from 'cloudflare:sockets'
const deeds = {
  fetch: async (target) => (await fetch(target)).text(),
  nine: (target) => Promise.all(Array.from({ length: 9 }, () => deeds.fetch(target))).then(String),
  tcp: async (target) => {
    const socket = connect(target)
    const { value } = await socket.readable.getReader().read()
    return new TextDecoder().decode(value)
  },
}
export default {
  async fetch(request, bindings) {
    const { searchParams } = new URL(request.url)
    const through = searchParams.get('through')
    if (through) {
      searchParams.delete('through')
      return bindings[through].fetch('http://internal/?' + searchParams)
    }
    const told = {
      bindings: Object.keys(bindings),
      environment: Object.keys(process.env),
      client: request.headers.get('cf-connecting-ip'),
    }
    try {
      const heard = await deeds[searchParams.get('deed') ?? '']?.(searchParams.get('target'))
      return Response.json({ ...told, heard: heard ?? 'nothing' })
    } catch (error) {
      return Response.json({ ...told, heard: 'refused' })
    }
  },
}`

const modules = mkdtempSync(join(tmpdir(), 'aoa-egress-'))
const answerSchema = z.object({
  heard: z.string(),
  bindings: z.array(z.string()),
  environment: z.array(z.string()),
  client: z.string().nullable(),
})

let gateway: Listening
let chain: Listening
let stranger: Listening
let workers: Workers
let mail: Awaited<ReturnType<typeof tcpServer>>
beforeAll(async () => {
  gateway = await listen(() => new Response('gateway'))
  chain = await listen(() => new Response('chain'))
  stranger = await listen(() => new Response('stranger'))
  mail = await tcpServer()
  for (const name of functionFolders()) writeFileSync(join(modules, `${name}.mjs`), rogue)
  const secrets = (await readFunctions()).flatMap((one) => one.secrets)
  const bindings = {
    ...Object.fromEntries(secrets.map((name) => [name, name])),
    SUPABASE_URL: gateway.url,
    CHAIN_RPC_URLS: JSON.stringify({ 'eip155:84532': [chain.url] }),
    MAIL_URL: `smtp://${mail.address}`,
  }
  const { functions: port } = await choosePorts(0)
  workers = await startWorkers({ port, modules, bindings, log() {} })
})
afterAll(async () => {
  await workers.stop()
  for (const server of [gateway, chain, stranger]) await server.close()
  mail.server.close()
  rmSync(modules, { recursive: true, force: true })
})

/** Starts a server that sends `tcp` to every client and counts the connections. */
async function tcpServer() {
  let count = 0
  const server: Server = createServer((socket) => {
    count += 1
    socket.on('error', () => {}).end('tcp')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = z.object({ port: z.int() }).parse(server.address())
  return { server, address: `127.0.0.1:${port}`, connections: () => count }
}

async function ask(path: string, query: Record<string, string> = {}) {
  const url = `${workers.url}/${path}?${new URLSearchParams(query).toString()}`
  const headers = { 'cf-connecting-ip': '203.0.113.9' }
  return answerSchema.parse(await (await fetch(url, { headers })).json())
}

async function reached(path: string, through: Record<string, string> = {}) {
  const targets = [gateway.url, chain.url, stranger.url, 'http://outside.example/']
  const answers = targets.map((target) => ask(path, { ...through, deed: 'fetch', target }))
  return (await Promise.all(answers)).map(({ heard }) => heard)
}

test('a function reaches the database, and a chain only when it is bound to one', async () => {
  expect(await reached('check-availability')).toEqual(['gateway', 'refused', 'refused', 'refused'])
  expect(await reached('transfer-status')).toEqual(['gateway', 'chain', 'refused', 'refused'])
})

test('custody reaches the database and nothing else', async () => {
  const heard = await reached('wallet-custodial-transfer', { through: 'CUSTODY' })

  expect(heard).toEqual(['gateway', 'refused', 'refused', 'refused'])
})

test('only the functions that pay or look up strangers reach them, none in plain text outside', async () => {
  const all = ['gateway', 'chain', 'stranger', 'refused']

  expect(await reached('x402-payment-prepare')).toEqual(all)
  expect(await reached('x402-payment-execute')).toEqual(all)
  expect(await reached('web')).toEqual(all)
  const bound = ['gateway', 'chain', 'refused', 'refused']
  expect(await reached('payment-mandate-create')).toEqual(bound)
})

test('only the mailer has TCP, and only to the mail server', async () => {
  const elsewhere = await tcpServer()
  const heard = async (path: string, through: Record<string, string>) => {
    const asked = [mail, elsewhere].map(({ address }) =>
      ask(path, { ...through, deed: 'tcp', target: address }),
    )
    return (await Promise.all(asked)).map((answer) => answer.heard === 'tcp')
  }

  expect(await heard('web', { through: 'MAILER' })).toEqual([true, false])
  expect(await heard('web', {})).toEqual([false, false])
  expect(await heard('x402-payment-execute', {})).toEqual([false, false])
  expect(await heard('wallet-custodial-transfer', { through: 'CUSTODY' })).toEqual([false, false])
  expect([mail.connections(), elsewhere.connections()]).toEqual([1, 0])
  elsewhere.server.close()
})

test('a client cannot choose the address that it is taken for', async () => {
  expect((await ask('get-identity')).client).toBe('127.0.0.1')
})

test('an invocation waits for six answers at once, as on the platform, and for the rest after them', async () => {
  const held: (() => void)[] = []
  let most = 0
  let isHolding = true
  const letGo = async () => {
    // Requests that do not queue would arrive meanwhile.
    await ask('get-identity')
    isHolding = false
    for (const go of held) go()
  }
  const slow = await listen(async () => {
    if (isHolding) {
      await new Promise<void>((resolve) => {
        most = held.push(resolve)
        if (most === 6) void letGo()
      })
    }
    return new Response('slow')
  })

  const { heard } = await ask('x402-payment-prepare', { deed: 'nine', target: slow.url })

  expect(heard).toBe(Array.from({ length: 9 }, () => 'slow').join())
  expect(most).toBe(6)
  await slow.close()
})

test('a function is given what is named for it, and nothing else', async () => {
  const functions = await readFunctions()
  const reachable = functions.filter(({ prefixes }) => prefixes.length > 0)

  const given = await Promise.all(
    reachable.map(({ prefixes }) => ask((prefixes[0] ?? '').slice(1))),
  )

  const named = reachable.map(({ vars, secrets, services }) =>
    [...Object.keys(vars), ...secrets, ...services.map(({ binding }) => binding)].toSorted(),
  )
  expect(given.map(({ bindings }) => bindings.toSorted())).toEqual(named)
  // Code of every package can read it.
  expect(given.flatMap(({ environment }) => environment)).toEqual([])
})
