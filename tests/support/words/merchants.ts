/** Merchants: their payment challenges, and their answers to a payment. */

import type { ServerResponse } from 'node:http'
import { expect } from 'vitest'
import { type Answering, type Received, serverThat } from '../http.ts'
import type { Market } from '../market.ts'
import { toolsIn } from '../mcp.ts'
import { asHeader, asQuoted } from './said.ts'
import { agentsFor, callersOf, type Pick, type Source } from './source.ts'

const places = [
  'plain',
  'plain',
  'plain',
  'scheme',
  'network',
  'asset',
  'payTo',
  'extra',
  'key',
] as const

/** Opens a merchant that lies about everything and answers a payment with arbitrary content. */
export async function lyingMerchant(market: Market): Promise<Source> {
  let answer: Answering = (response) => response.end()
  const shop = await serverThat((response, received) => answer(response, received))
  const agentNow = agentsFor(market, 5, 60)
  const callerOf = callersOf(toolsIn(market.world))
  return {
    name: 'a merchant',
    share: 36,
    meets: ['unsupported_scheme', 'unknown', 'rejected_unpaid'],
    async say(said, pick) {
      const agent = await agentNow()
      const call = callerOf(pick)
      answer = lies(market, said, pick)
      const url = pick(
        shop.url,
        `${shop.url}${encodeURIComponent(said.toWellFormed()).slice(0, 400)}`,
      )
      const prepared = await call(agent, 'x402_payment_prepare', { resource_url: url })
      const attempt_id = prepared.body['attempt_id']
      if (typeof attempt_id !== 'string') return prepared.body['error']
      const order = { attempt_id, user_confirmed: true }
      const executed = await call(agent, 'x402_payment_execute', order)
      await call(agent, 'wallet_activity_list', { limit: 3 })
      return executed.body['status'] ?? executed.body['error']
    },
  }
}

function lies(market: Market, said: string, pick: Pick): Answering {
  const resource = { url: 'https://e.vil/', description: said, mimeType: said, hint: said }
  const accepts = [offerOf(market, said, pick(...places))]
  const asked = {
    x402Version: 2,
    error: said,
    resource,
    accepts,
    extensions: { [said]: said },
    [said]: said,
  }
  const [status, kind] = [pick(200, 302, 402, 402, 418, 500), pick('body', 'header', 'mpp')]
  const isEncoded = pick(false, false, true)
  return (response, { headers }) => {
    const isPaid = headers['payment-signature'] !== undefined || headers.authorization !== undefined
    const challenge = Buffer.from(JSON.stringify(asked)).toString('base64')
    response.writeHead(isPaid ? status : 402, asHeader(said, 500), {
      location: asHeader(said, 2_000),
      etag: asHeader(said),
      'retry-after': asHeader(said, 300),
      'www-authenticate':
        kind === 'mpp' ? mppOf(market, said) : `Payment realm="${asQuoted(said)}"`,
      ...(kind === 'header' && challenge.length < 9_000 ? { 'payment-required': challenge } : {}),
      ...(isEncoded && (isPaid || status === 418)
        ? { 'content-encoding': asHeader(said, 300) }
        : {}),
    })
    const problem = { type: said, title: said, detail: said, error: said }
    response.end(JSON.stringify(kind === 'mpp' ? problem : asked))
  }
}

function mppOf(market: Market, said: string): string {
  const { chainId, usdc } = market.chain
  const methodDetails = { chainId, credentialTypes: ['authorization'], [said]: said }
  const charge = {
    amount: '100',
    currency: usdc,
    recipient: market.hostile.payTo,
    methodDetails,
    hint: said.slice(0, 900),
  }
  const request = Buffer.from(JSON.stringify(charge)).toString('base64url').slice(0, 6_000)
  const [half, word] = [said.length % 2 === 0, asQuoted(said)]
  return `Payment id="${word.slice(0, 900)}", realm="${word}", method="${half ? 'evm' : word.slice(0, 64)}",
 intent="${half ? 'charge' : word.slice(0, 64)}", description="${word}", request="${request}"`.replace(
    '\n',
    '',
  )
}

function offerOf({ chain, hostile }: Market, said: string, place: (typeof places)[number]) {
  const plain = { scheme: 'exact', network: chain.network, asset: chain.usdc, payTo: hostile.payTo }
  const offer = { ...plain, amount: '100', maxTimeoutSeconds: 300, description: said }
  if (place === 'plain') return offer
  if (place === 'key') return { ...offer, extra: { [said]: said, assetTransferMethod: said } }
  if (place === 'extra') return { ...offer, extra: { name: said, hint: said, message: said } }
  return { ...offer, [place]: said }
}

/**
 * Opens a merchant that delivers what it promises and puts the words into headers. The delivery must not be
 * lost.
 */
export async function honestMerchant(market: Market): Promise<Source> {
  let said = ''
  const serve = async (response: ServerResponse, { url, headers, method }: Received) => {
    const { host: _host, connection: _connection, ...passed } = headers
    const answer = await fetch(new URL(url, market.merchant.v2Url), {
      method,
      headers: new Headers(
        Object.entries(passed).map(([name, value]): [string, string] => [name, String(value)]),
      ),
    })
    const own = Object.fromEntries(answer.headers)
    response.writeHead(answer.status, asHeader(said, 500), {
      ...own,
      etag: asHeader(said),
      link: asHeader(said, 3_000),
      'x-hint': asHeader(said, 300),
    })
    response.end(Buffer.from(await answer.arrayBuffer()))
  }
  const front = await serverThat((response, received) => {
    serve(response, received).catch(() => response.destroy())
  })
  const agentNow = agentsFor(market, 50, 40)
  const callerOf = callersOf(toolsIn(market.world))
  return {
    name: 'a merchant that delivers',
    share: 2,
    meets: ['settled'],
    async say(words, pick) {
      said = words
      const agent = await agentNow()
      const call = callerOf(pick)
      const prepared = await call(agent, 'x402_payment_prepare', {
        resource_url: `${front.url}v2/paid`,
      })
      const { attempt_id } = prepared.body
      const executed = await call(agent, 'x402_payment_execute', {
        attempt_id,
        user_confirmed: true,
      })
      expect(executed.body['response']).toMatchObject({
        status: 200,
        body_json: { paid: true },
      })
      return executed.body['status']
    },
  }
}
