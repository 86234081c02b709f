/**
 * The network of a play in place of `fetch`: two endpoints of the chain of which one may lie, the
 * merchant's host, and a record of every transaction that the service gave out.
 */
import * as z from 'zod'
import type { Fetch } from '../../../shared/world.ts'
import type { Lie } from './actions.ts'
import { answered, asked, type Call, type Said } from './lies.ts'

/** URL of an endpoint of another operator; nothing listens there. */
export const liarUrl = 'http://127.0.0.1:1/'
/** Host of a play's merchant. */
export const shopHost = 'shop.thief.com'

/** A transaction as the service gave it out. */
export type Sent = { raw: string; at: number; wasAccepted: boolean }

export type Network = {
  fetch: Fetch
  lie: Lie
  /** A block before any payment. */
  past: number
  /** True while no endpoint accepts a transaction. */
  isOut: boolean
  sent: Sent[]
  /** Bytes that an endpoint accepted. */
  accepted: Set<string>
  /** Answers for the merchant. */
  shop: (request: Request) => Promise<Response>
  /** Called before bytes are sent to an endpoint. */
  onSend: (raw: string) => void
}

const calls = z.array(
  z.looseObject({
    id: z.unknown(),
    method: z.string(),
    params: z.array(z.unknown()).default([]),
  }),
)
const said = z.array(
  z.looseObject({
    id: z.unknown(),
    result: z.unknown().optional(),
    error: z.unknown().optional(),
  }),
)

export function openNetwork(nodeUrl: string, now: () => number): Network {
  const network: Network = {
    lie: 'none',
    past: 1,
    isOut: false,
    sent: [],
    accepted: new Set(),
    shop: async () => new Response('closed', { status: 503 }),
    onSend: () => undefined,
    fetch: async (input, init) => {
      const url = input instanceof Request ? input.url : input.toString()
      if (url.startsWith(`https://${shopHost}/`)) return network.shop(new Request(input, init))
      const isLiar = url.startsWith(liarUrl)
      if (!isLiar && !url.startsWith(nodeUrl)) return fetch(input, init)
      return ask(network, nodeUrl, textOf(init), isLiar ? network.lie : 'none', now)
    },
  }
  return network
}

function textOf(init: RequestInit | undefined): string {
  return typeof init?.body === 'string' ? init.body : ''
}

async function ask(
  network: Network,
  nodeUrl: string,
  body: string,
  lie: Lie,
  now: () => number,
): Promise<Response> {
  const isSend = body.includes('eth_sendRawTransaction')
  if (!isSend && lie === 'none') return forward(nodeUrl, body)
  const read: unknown = JSON.parse(body)
  const list = calls.parse([read].flat())
  for (const raw of list.flatMap(rawOf)) network.onSend(raw)
  if (isSend && network.isOut) return refuse(list)
  const told =
    lie === 'none' ? list : list.map((call) => asked(call, lie, { now: now(), past: network.past }))
  const response = await forward(nodeUrl, JSON.stringify(told))
  const answers = said.parse([await response.json()].flat())
  for (const call of list) keep(network, call, answers, now())
  const lies = answers.map((answer) => liedTo(list, answer, lie))
  return Response.json(Array.isArray(read) ? lies : lies[0])
}

function forward(nodeUrl: string, body: string): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(nodeUrl, { method: 'POST', headers, body })
}

function rawOf({ method, params: [raw] }: Call): string[] {
  return method === 'eth_sendRawTransaction' && typeof raw === 'string' ? [raw] : []
}

function refuse(list: readonly Call[]): Response {
  const error = { code: -32_000, message: 'the pool takes no transactions' }
  const answers = list.map(({ id }) => ({ jsonrpc: '2.0', id, error }))
  return Response.json(answers.length === 1 ? answers[0] : answers)
}

function keep(network: Network, call: Call, answers: readonly Said[], at: number): void {
  const [raw] = rawOf(call)
  if (raw === undefined) return
  const wasAccepted = answers.some(({ id, result }) => id === call.id && result !== undefined)
  if (wasAccepted) network.accepted.add(raw)
  network.sent.push({ raw, at, wasAccepted })
}

function liedTo(list: readonly Call[], answer: Said, lie: Lie): Said {
  const call = list.find(({ id }) => id === answer.id)
  if (!call || !('result' in answer)) return answer
  return { ...answer, result: answered(call, answer.result, lie) }
}
