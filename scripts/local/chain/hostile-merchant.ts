/**
 * A merchant that misbehaves by path and remembers each request: `/terms/<lie>` challenges with bad
 * terms, `/unpaid/<answer>` misbehaves at once, `/paid/<answer>` takes the payment without settling it,
 * `/settled/<answer>` settles first, `/later/<answer>` answers 503 to a payment that it sees for the first
 * time and settles when it is sent again, `/after/<answer>` settles when its answer is over.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { HTTPFacilitatorClient } from '@x402/core/server'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import * as z from 'zod'
import type { Chain } from '../chain.ts'
import { listenRaw } from '../process/listen.ts'
import { localTokens } from './fund.ts'
import { answers, type Exchange } from './hostile/answers.ts'
import { challengeLies, encode, type Offer, offerLies, toRequirementsV1 } from './hostile/terms.ts'

const payTo = '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc'
const requestsRememberedMax = 10_000

/** A request that the merchant has received. */
export type ReceivedRequest = { method: string; url: string; headers: IncomingHttpHeaders }

/** A running merchant. */
export type HostileMerchant = {
  url: string
  /** Origin that redirects lead to; requests there are received as `/elsewhere/...`. */
  elsewhereUrl: string
  payTo: string
  /** All paths that misbehave. */
  paths: readonly string[]
  /** Returns the requests to a path, without its query, that carried a payment header; oldest first. */
  received: (path: string) => readonly ReceivedRequest[]
  /** Returns all requests to a path, with or without payment. */
  requests: (path: string) => readonly ReceivedRequest[]
  /** Resolves once every settlement that follows an answer is done. */
  idle: () => Promise<void>
  close: () => Promise<void>
}

type State = {
  offer: Offer
  elsewhereUrl: string
  facilitator: HTTPFacilitatorClient | undefined
  rounds: Map<string, number>
  log: (ReceivedRequest & { path: string })[]
  settling: Set<Promise<unknown>>
  onSilence: (request: ReceivedRequest, once: 'received' | 'begun') => void
}

const payloadSchema = z.looseObject({ x402Version: z.int() }).and(z.custom<PaymentPayload>())

/** Offers 0.01 USDC on the first chain. Without `facilitatorUrl`, the paths that settle answer 501. */
export async function startHostileMerchant(options: {
  chains: readonly [Chain, ...Chain[]]
  facilitatorUrl?: string
  port?: number
  /** Receives each request that gets no answer, or an answer that begins and never ends. */
  onSilence?: (request: ReceivedRequest, once: 'received' | 'begun') => void
}): Promise<HostileMerchant> {
  const { chains, facilitatorUrl, port, onSilence = () => {} } = options
  const facilitator = facilitatorUrl
    ? new HTTPFacilitatorClient({ url: facilitatorUrl })
    : undefined
  const offer = honestOffer(chains[0])
  const memory = { rounds: new Map(), log: [], settling: new Set<Promise<unknown>>() }
  const state: State = { offer, elsewhereUrl: '', facilitator, onSilence, ...memory }
  const serve = (request: IncomingMessage, response: ServerResponse) =>
    void respond(state, request, response).catch(() => response.destroy())
  const main = await listenRaw(serve, port)
  const elsewhere = await listenRaw(serve)
  state.elsewhereUrl = elsewhere.url
  const requests = (path: string) => state.log.filter((entry) => entry.path === path)
  return {
    url: main.url,
    elsewhereUrl: elsewhere.url,
    payTo,
    paths: listPaths(),
    received: (path) => requests(path).filter(({ headers }) => paymentHeader(headers)),
    requests,
    idle: async () => void (await Promise.all(state.settling)),
    close: async () => void (await Promise.all([main.close(), elsewhere.close()])),
  }
}

function honestOffer({ chainId, network, usdc }: Chain): Offer {
  return {
    scheme: 'exact',
    network,
    amount: '10000',
    asset: usdc,
    payTo,
    maxTimeoutSeconds: 300,
    extra: {
      name: localTokens[chainId].find(({ address }) => address === usdc)?.name,
      version: '2',
    },
  }
}

function listPaths(): string[] {
  const lies = [...Object.keys(offerLies), ...Object.keys(challengeLies)]
  const phases = ['unpaid', 'paid', 'settled', 'later', 'after']
  return [
    ...lies.map((lie) => `/terms/${lie}`),
    ...phases.flatMap((phase) => Object.keys(answers).map((name) => `/${phase}/${name}`)),
  ]
}

async function respond(state: State, request: IncomingMessage, response: ServerResponse) {
  const { method = 'GET', headers } = request
  const url = new URL(request.url ?? '/', `http://${headers.host ?? 'localhost'}`)
  if (state.log.length >= requestsRememberedMax) state.log.shift()
  const received = { method, url: url.href, headers }
  state.log.push({ path: url.pathname, ...received })
  request.resume()
  const [, phase = '', name = ''] = url.pathname.split('/')
  const challenge = () => sendChallenge(state, url, response)
  const payment = paymentHeader(headers)
  const silent: Exchange['silent'] = (once) => state.onSilence(received, once)
  const exchange = { request, response, elsewhereUrl: state.elsewhereUrl, challenge, silent }
  const answer = answers[phase === 'terms' || phase === 'elsewhere' ? 'ok' : name]
  if (!answer) return void response.writeHead(404).end()
  if (phase === 'unpaid') return answer({ ...exchange, status: 402, headers: {} })
  if (!payment) return challenge()
  const isAfter = phase === 'after'
  if (isAfter) response.once('close', () => settleLater(state, payment, request))
  if (isAfter || phase === 'paid') return answer({ ...exchange, status: 200, headers: {} })
  const sent = state.log.filter((entry) => paymentHeader(entry.headers) === payment)
  if (phase === 'later' && sent.length === 1) return void response.writeHead(503).end()
  await settleAndAnswer(state, payment, { ...exchange, status: 200, headers: {} }, answer)
}

async function settleAndAnswer(
  state: State,
  payment: string,
  exchange: Exchange,
  answer: (exchange: Exchange) => void,
): Promise<void> {
  try {
    answer({ ...exchange, headers: await settle(state, payment, exchange.request) })
  } catch (error) {
    exchange.response.writeHead(501).end(error instanceof Error ? error.message : 'failed')
  }
}

function settleLater(state: State, payment: string, request: IncomingMessage): void {
  const settling = settle(state, payment, request)
    .catch(() => {})
    .finally(() => state.settling.delete(settling))
  state.settling.add(settling)
}

/** Settles a payment and returns the header that reports it. */
async function settle(
  { facilitator, offer }: State,
  payment: string,
  request: IncomingMessage,
): Promise<Record<string, string>> {
  if (!facilitator) throw new Error('settling needs a facilitator')
  const text = Buffer.from(payment, 'base64').toString('utf8')
  const payload = payloadSchema.parse(JSON.parse(text))
  const version1 = payload.x402Version === 1
  const requirements = version1 ? requirementsV1(offer, request) : payload.accepted
  const settled = await facilitator.settle(payload, requirements)
  if (!settled.success) throw new Error(settled.errorReason ?? 'not settled')
  const header = version1 ? 'x-payment-response' : 'payment-response'
  return { [header]: encode(JSON.stringify(settled)) }
}

function sendChallenge({ offer, rounds }: State, url: URL, response: ServerResponse): void {
  const round = (rounds.get(url.pathname) ?? 0) + 1
  rounds.set(url.pathname, round)
  const lie = url.pathname.startsWith('/terms/') ? url.pathname.slice('/terms/'.length) : 'honest'
  const changed = { ...offer, ...offerLies[lie]?.(offer, round) }
  const challenge = {
    x402Version: 2,
    error: 'Payment required',
    resource: resourceOf(url.href),
    accepts: [changed],
  }
  const write = challengeLies[lie] ?? challengeLies['honest']
  const wire = write?.(challenge, changed) ?? { body: '' }
  const header = wire.header ? { 'payment-required': wire.header } : {}
  response.writeHead(402, { 'content-type': 'application/json', ...header }).end(wire.body)
}

function requirementsV1(offer: Offer, request: IncomingMessage): PaymentRequirements {
  const resource = resourceOf(request.url ?? '/')
  const requirements = toRequirementsV1(offer, resource, 'base-sepolia')
  return z.custom<PaymentRequirements>().parse(requirements)
}

function resourceOf(url: string) {
  return { url, description: 'A paid answer', mimeType: 'application/json' }
}

function paymentHeader(headers: IncomingHttpHeaders): string | undefined {
  const value = headers['payment-signature'] ?? headers['x-payment']
  return typeof value === 'string' ? value : undefined
}
