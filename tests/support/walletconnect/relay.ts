/**
 * A stand-in for the WalletConnect relay, written only from its published interface (WalletConnect 2.0
 * specifications: "Relay Server RPC", "Relay Client Auth"). Clients prove their name, publish, subscribe
 * and receive; undelivered messages wait. Newer clients publish a proposal and its approval with two
 * further methods.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import * as z from 'zod'
import { clientOf } from './admission.ts'

export type RelayStandIn = { url: string; close(): void }

type Message = { topic: string; message: string; publishedAt: number; tag: number }
type Kept = Message & { by: string; received: Set<string> }
type Client = {
  name: string
  socket: WebSocket
  topics: Set<string>
  /** Deliveries that it has not acknowledged. */
  open: Map<number, Kept>
}
type Relay = { kept: Kept[]; clients: Set<Client>; lastId: number }

const callSchema = z.object({
  id: z.union([z.number(), z.string()]),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).default({}),
})
const text = z.string()
const topicOf = ({ topic }: Record<string, unknown>) => text.parse(topic)
const topicsOf = ({ topics }: Record<string, unknown>) => z.array(text).parse(topics)

/** Listens on loopback. `POST /break` drops all connections, as a network failure does. */
export async function startRelayStandIn(projectId: string): Promise<RelayStandIn> {
  const relay: Relay = { kept: [], clients: new Set(), lastId: 0 }
  const server = createServer((_request, response) => {
    for (const socket of sockets.clients) socket.terminate()
    response.end()
  })
  const sockets = new WebSocketServer({ server })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = z.object({ port: z.int() }).parse(server.address())
  const url = `ws://127.0.0.1:${port}`
  sockets.on('connection', (socket, request) => {
    const query = new URL(request.url ?? '', url).searchParams
    const name = clientOf(query.get('auth') ?? '', url)
    if (query.get('projectId') === projectId && name !== undefined) serve(relay, name, socket)
    else socket.close(3000, 'unauthorized')
  })
  const close = () => {
    for (const socket of sockets.clients) socket.terminate()
    sockets.close()
    server.close()
    server.closeAllConnections()
  }
  return { url, close }
}

function serve(relay: Relay, name: string, socket: WebSocket): void {
  const client: Client = { name, socket, topics: new Set(), open: new Map() }
  relay.clients.add(client)
  socket.on('close', () => relay.clients.delete(client))
  socket.on('message', (data) => {
    const { id, method, params } = callSchema.parse(JSON.parse(data.toString()))
    if (method === undefined) {
      client.open.get(Number(id))?.received.add(name)
      client.open.delete(Number(id))
      return
    }
    const result = answer(relay, client, method, params)
    socket.send(JSON.stringify({ id, jsonrpc: '2.0', ...result }))
    deliver(relay)
  })
}

function answer(relay: Relay, client: Client, method: string, params: Record<string, unknown>) {
  const { name, topics } = client
  switch (method) {
    case 'irn_publish':
      keep(relay, name, topicOf(params), params['message'], params['tag'])
      return { result: true }
    case 'irn_subscribe':
      topics.add(topicOf(params))
      return { result: topicOf(params) }
    case 'irn_batchSubscribe':
      for (const topic of topicsOf(params)) topics.add(topic)
      return { result: topicsOf(params) }
    case 'irn_unsubscribe':
      topics.delete(topicOf(params))
      return { result: true }
    case 'irn_fetchMessages':
      return { result: { messages: waiting(relay, name, [topicOf(params)]), hasMore: false } }
    case 'irn_batchFetchMessages':
      return { result: { messages: waiting(relay, name, topicsOf(params)), hasMore: false } }
    case 'wc_proposeSession':
      topics.add(text.parse(params['pairingTopic']))
      keep(relay, name, params['pairingTopic'], params['sessionProposal'], 1100)
      return { result: true }
    case 'wc_approveSession':
      topics.add(text.parse(params['sessionTopic']))
      keep(relay, name, params['pairingTopic'], params['sessionProposalResponse'], 1101)
      keep(relay, name, params['sessionTopic'], params['sessionSettlementRequest'], 1102)
      return { result: true }
    default:
      return { error: { code: -32_601, message: `${method} is not a method of the relay` } }
  }
}

function keep(relay: Relay, by: string, topic: unknown, message: unknown, tag: unknown): void {
  const said = { topic: text.parse(topic), message: text.parse(message), tag: z.int().parse(tag) }
  relay.kept.push({ ...said, by, publishedAt: Date.now(), received: new Set() })
}

function waiting({ kept }: Relay, name: string, topics: readonly string[]): Message[] {
  return kept
    .filter(
      ({ topic, by, received }) => topics.includes(topic) && by !== name && !received.has(name),
    )
    .map(({ topic, message, publishedAt, tag }) => ({ topic, message, publishedAt, tag }))
}

/** Delivers to every subscriber but the sender, and again on a new connection until it is acknowledged. */
function deliver(relay: Relay): void {
  for (const client of relay.clients) {
    for (const kept of relay.kept) {
      const { topic, message, publishedAt, tag, by, received } = kept
      const isUnderWay = [...client.open.values()].includes(kept)
      if (!client.topics.has(topic) || by === client.name || isUnderWay) continue
      if (received.has(client.name)) continue
      relay.lastId += 1
      client.open.set(relay.lastId, kept)
      const data = { topic, message, publishedAt, tag, attestation: '' }
      const params = { id: topic, data }
      const call = { id: relay.lastId, jsonrpc: '2.0', method: 'irn_subscription', params }
      client.socket.send(JSON.stringify(call))
    }
  }
}
