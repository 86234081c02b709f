import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import * as z from 'zod'
import { rpcFor } from '../../../shared/chains/evm/rpc/rpc.ts'
import { known, worldOn } from '../../support/chain-world.ts'

const { chain } = known('eip155:8453')
const call = { method: 'eth_chainId', params: [] }
const idSchema = z.object({ id: z.int() })

let server: Server | undefined

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

type Answer = (body: string, response: ServerResponse, request: IncomingMessage) => void

async function nodeThat(answer: Answer, world = worldOn({})) {
  const listening = createServer((request, response) => {
    void text(request).then((body) => answer(body, response, request))
  })
  server = listening
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  const { port } = z.object({ port: z.int() }).parse(listening.address())
  world.config.chainRpcUrls = { [chain.caip2]: [`http://127.0.0.1:${port}`] }
  return rpcFor(world, chain)
}

const json =
  (body: unknown, status = 200): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

test('a result and an error are told apart, also under an HTTP error', async () => {
  const error = { code: -32000, message: 'nonce too low' }
  for (const status of [200, 400, 500]) {
    const rpc = await nodeThat(json({ jsonrpc: '2.0', id: 0, error }, status))
    expect(await rpc.request('m', [])).toEqual({ failure: { kind: 'rpc', ...error } })
  }
  const rpc = await nodeThat(json({ jsonrpc: '2.0', id: 0, result: '0x1' }))
  expect(await rpc.request('m', [])).toEqual({ result: '0x1' })
})

test('answers of a batch are matched by id, whatever their order', async () => {
  const rpc = await nodeThat((body, response) => {
    const ids = z
      .array(idSchema)
      .parse(JSON.parse(body))
      .map(({ id }) => id)
    response.end(
      JSON.stringify(ids.toReversed().map((id) => ({ jsonrpc: '2.0', id, result: id * 10 }))),
    )
  })

  expect(await rpc.batch([call, call, call])).toEqual([
    { result: 0 },
    { result: 10 },
    { result: 20 },
  ])
})

test('a call left out of a batch is unknown, and a batch refused as a whole is refused for each', async () => {
  const partial = await nodeThat(json([{ jsonrpc: '2.0', id: 1, result: 'b' }]))
  expect(await partial.batch([call, call])).toMatchObject([
    { failure: { kind: 'unreachable' } },
    { result: 'b' },
  ])

  const refused = await nodeThat(
    json({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no batches' } }),
  )
  const failure = { kind: 'rpc', code: -32600, message: 'no batches' }
  expect(await refused.batch([call, call])).toEqual([{ failure }, { failure }])
})

test('what is not JSON-RPC is no answer: pages, foreign JSON, nothing', async () => {
  const answers: Answer[] = [
    (_, response) => response.writeHead(502).end('<html>bad gateway</html>'),
    (_, response) => response.end('{"hello":"world"'),
    (_, response) => response.end('7'),
    (_, response) => response.end(),
    (_body, _response, request) => request.socket.destroy(),
  ]
  for (const answer of answers) {
    const rpc = await nodeThat(answer)
    expect(await rpc.request('m', [])).toMatchObject({ failure: { kind: 'unreachable' } })
  }
})

test('a redirect is not followed, since the address it leaves may hold a key', async () => {
  const rpc = await nodeThat((body, response, request) => {
    if (request.url === '/') response.writeHead(307, { location: '/elsewhere' }).end()
    else json({ jsonrpc: '2.0', id: 0, result: '0x1' })(body, response, request)
  })

  expect(await rpc.request('m', [])).toMatchObject({ failure: { kind: 'unreachable' } })
})

test('an answer over one mebibyte is cut off', async () => {
  const rpc = await nodeThat(json({ jsonrpc: '2.0', id: 0, result: 'x'.repeat(1_048_577) }))
  expect(await rpc.request('m', [])).toEqual({
    failure: { kind: 'unreachable', reason: 'Error: the answer is too long' },
  })
})

test('the deadline ends a node that is silent and one that trickles', async () => {
  const world = worldOn({})
  const past = (once: 'received' | 'begun', { method, headers }: IncomingMessage) =>
    world.expire({ method: method ?? '', url: `http://${headers.host}/`, headers }, once)
  const silent: Answer = (_body, _response, request) => past('received', request)
  const trickling: Answer = (_, response, request) => {
    past('begun', request)
    response.writeHead(200).write('{"jsonrpc":')
  }
  for (const answer of [silent, trickling]) {
    const rpc = await nodeThat(answer, world)
    const failure = await rpc.request('m', [])
    expect(failure).toMatchObject({ failure: { kind: 'unreachable' } })
  }
})
