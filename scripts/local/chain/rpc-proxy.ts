/**
 * A JSON-RPC endpoint on loopback in front of a node. It loses, holds, duplicates or falsifies requests
 * after a seeded plan. Everything else passes through unchanged, batches included.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import * as z from 'zod'
import { listenRaw } from '../process/listen.ts'
import { type Call, callSchema, liarFor, responseSchema } from './rpc-proxy/lies.ts'
import { type Fault, type Kind, type Lie, planFrom, type Rule } from './rpc-proxy/plan.ts'

export type { Rule } from './rpc-proxy/plan.ts'

/** A running proxy. */
export type RpcProxy = {
  url: string
  /** Returns the number of HTTP requests so far. */
  requests(): number
  /** Number of requests that each kind of rule has struck so far. */
  faults: Readonly<Record<Kind, number>>
  /** Replaces the rules; the random streams of the new ones start from the beginning. */
  set(rules: readonly Rule[]): void
  close(): Promise<void>
}

/** Settings of a proxy. */
export type RpcProxyOptions = {
  nodeUrl: string
  seed?: number
  rules?: readonly Rule[]
  /** Hears of each request that gets no answer. */
  onSilence?: (request: ReceivedCall) => void
}

/** A request as the proxy received it. */
type ReceivedCall = { method: string; url: string; headers: IncomingHttpHeaders; body: string }

const nodeTimeoutMilliseconds = 30_000
const bodySchema = z.union([z.array(callSchema), callSchema])
const answerSchema = z.union([z.array(responseSchema), responseSchema])

/** Starts the proxy on a free port. */
export async function startRpcProxy(options: RpcProxyOptions): Promise<RpcProxy> {
  const { nodeUrl, seed = 1, rules = [], onSilence = () => {} } = options
  const faults = noFaults()
  const queue = holdingQueue()
  let plan = planFrom(rules, seed)
  let requests = 0
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', headers } = request
    const received = { method, url: `${server.url}/`, headers, body: await text(request) }
    const body = bodySchema.parse(JSON.parse(received.body))
    requests += 1
    const struck = plan([body].flat().map(({ method }) => method))
    for (const { kind } of struck) faults[kind] += 1
    const overtaken = struck.some(({ kind }) => kind === 'hold') ? queue.hold() : undefined
    const outcome = await pass(nodeUrl, body, struck)
    if (struck.some(({ kind }) => kind === 'silence')) return onSilence(received)
    await overtaken
    if (outcome === 'cut') request.socket.destroy()
    else response.writeHead(outcome.status, outcome.headers).end(outcome.body)
    queue.passed()
  }
  const server = await listenRaw((request, response) => {
    serve(request, response).catch(() => response.writeHead(502).end())
  })
  return {
    url: server.url,
    requests: () => requests,
    faults,
    set: (next) => {
      plan = planFrom(next, seed)
    },
    close: () => {
      queue.passed()
      return server.close()
    },
  }
}

type Outcome = 'cut' | { status: number; headers: Record<string, string>; body: string }

/** Applies the rules to a request and returns the outcome that its sender sees. */
async function pass(nodeUrl: string, body: Call | Call[], struck: Rule[]): Promise<Outcome> {
  const kinds = struck.map(({ kind }) => kind)
  if (kinds.includes('drop')) return 'cut'
  const status = struck.find((rule) => rule.kind === 'status')
  if (status && !status.acted) return refuseByPlan(status)
  if (kinds.includes('duplicate')) await forward(nodeUrl, body)
  const answer = await lieTo(nodeUrl, body, struck.filter(isLie))
  if (kinds.includes('lose')) return 'cut'
  return status ? refuseByPlan(status) : answer
}

function refuseByPlan({ status, retryAfterSeconds }: Extract<Fault, { kind: 'status' }>): Outcome {
  const asked = retryAfterSeconds === undefined ? {} : { 'retry-after': `${retryAfterSeconds}` }
  return { status, headers: { ...asked }, body: `status ${status}` }
}

function isLie(rule: Rule): rule is Lie & Rule {
  return rule.kind === 'lag' || rule.kind === 'miscount' || rule.kind === 'no_receipts'
}

/** Returns the node's answer as all lies of this endpoint change it. */
async function lieTo(nodeUrl: string, body: Call | Call[], lies: Lie[]): Promise<Outcome> {
  const liars = await Promise.all(lies.map((lie) => liarFor(lie, nodeUrl)))
  const ask = (call: Call) => liars.reduce((asked, liar) => liar.ask(asked), call)
  const sent = await forward(nodeUrl, Array.isArray(body) ? body.map(ask) : ask(body))
  const headers = { 'content-type': 'application/json' }
  if (liars.length === 0) return { ...sent, headers }
  const methods = new Map([body].flat().map(({ id, method }) => [id, method]))
  const lied = (response: z.output<typeof responseSchema>) => {
    const method = methods.get(response.id) ?? ''
    const result = liars.reduce((said, liar) => liar.answer(method, said), response.result)
    return 'result' in response ? { ...response, result } : response
  }
  const answer = answerSchema.parse(JSON.parse(sent.body))
  const altered = JSON.stringify(Array.isArray(answer) ? answer.map(lied) : lied(answer))
  return { status: sent.status, headers, body: altered }
}

async function forward(nodeUrl: string, body: Call | Call[]) {
  const response = await fetch(nodeUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(nodeTimeoutMilliseconds),
  })
  return { status: response.status, body: await response.text() }
}

/** Holds answers back until another one has passed them. */
function holdingQueue() {
  const waiting: (() => void)[] = []
  return {
    hold: () => new Promise<void>((pass) => waiting.push(pass)),
    passed: () => {
      for (const pass of waiting.splice(0)) pass()
    },
  }
}

function noFaults(): Record<Kind, number> {
  const faults = { drop: 0, lose: 0, status: 0, silence: 0, duplicate: 0, hold: 0 }
  return { ...faults, lag: 0, miscount: 0, no_receipts: 0 }
}
