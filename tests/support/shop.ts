/**
 * A shop whose terms a test can change while it is open. For any path it charges what it is told to, and it
 * has the official facilitator settle what it is sent.
 */

import { HTTPFacilitatorClient } from '@x402/core/server'
import type { PaymentPayload } from '@x402/core/types'
import { Hono } from 'hono'
import * as z from 'zod'
import { listen } from '../../scripts/local/process/listen.ts'
import { atEnd } from './ending.ts'
import type { Market } from './market.ts'
import { challengeV2, headerOf, payTo, requirementV2 } from './x402.ts'

export type Shop = {
  url: string
  payTo: string
  /** Fields of the offer that differ from the usual ones. */
  asks: Record<string, unknown>
  /** URL that its challenge names, if it is not the requested one. */
  names: string | undefined
  /** Returns the challenge as an agent would present it. */
  challenge(): Record<string, unknown>
  /** Number of requests without payment. */
  asked: number
}

const payload = z.custom<PaymentPayload>()

export async function openShop({ facilitator }: Pick<Market, 'facilitator'>): Promise<Shop> {
  const settling = new HTTPFacilitatorClient({ url: facilitator.url })
  const app = new Hono()
  app.all('*', async (context) => {
    const payment = context.req.header('payment-signature')
    if (payment === undefined) {
      shop.asked += 1
      return context.json(shop.challenge(), 402)
    }
    const sent = payload.parse(JSON.parse(Buffer.from(payment, 'base64').toString('utf8')))
    const settled = await settling.settle(sent, sent.accepted)
    const headers = { 'payment-response': headerOf(settled) }
    return context.json({ paid: settled.success }, settled.success ? 200 : 402, headers)
  })
  const { url, close } = await listen(app.fetch)
  atEnd(close)
  const shop: Shop = {
    url,
    payTo,
    asks: {},
    names: undefined,
    asked: 0,
    challenge: () =>
      challengeV2([requirementV2(shop.asks)], { resource: { url: shop.names ?? `${url}/data` } }),
  }
  return shop
}
