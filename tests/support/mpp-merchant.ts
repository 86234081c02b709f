/**
 * A merchant of the official MPP package, which settles through the official x402 facilitator. Its 402
 * offers both protocols; under /mpp the x402 part is removed. The middleware binds each challenge to its
 * route. /bound requires this, and /open names no route.
 */

import { Hono } from 'hono'
import { evm, Mppx } from 'mppx/hono'
import { Mppx as Plain } from 'mppx/server'
import type { Chain } from '../../scripts/local/chain.ts'
import { listen } from '../../scripts/local/process/listen.ts'
import { atEnd } from './ending.ts'

export const mppPayTo = '0x976EA74026E726554dB657fA54763abd0C3a0aa9'

export type MppMerchant = {
  url: string
  /** Path of each request, with the payment headers it carried. */
  paid: { path: string; authorization: string | undefined; x402: string | undefined }[]
}

export async function startMppMerchant(chain: Chain, facilitator: string): Promise<MppMerchant> {
  const paid: MppMerchant['paid'] = []
  const serve = (routeBinding: 'resource' | 'required') => {
    const charge = evm.charge({
      currency: chain.usdc,
      recipient: mppPayTo,
      chainId: chain.chainId,
      decimals: 6,
      authorization: { name: 'USDC', version: '2' },
      x402: { facilitator, routeBinding },
    })
    return { methods: [charge] as const, secretKey: 'a secret of the tests only, and long enough' }
  }
  const mppx = Mppx.create(serve('resource'))
  const bound = Mppx.create(serve('required'))
  const open = Plain.create(serve('resource'))
  const app = new Hono()
  app.use(async (context, next) => {
    const authorization = context.req.header('authorization')
    const x402 = context.req.header('payment-signature')
    if (authorization ?? x402) paid.push({ path: context.req.path, authorization, x402 })
    await next()
  })
  app.use('/mpp/*', async (context, next) => {
    await next()
    context.res.headers.delete('payment-required')
  })
  for (const path of ['/mpp/paid', '/both/paid']) {
    app.on(['GET', 'POST'], path, mppx.charge({ amount: '0.01', description: 'Daten für 🌍' }))
    app.on(['GET', 'POST'], path, (context) => context.json({ paid: true }))
  }
  const order = { amount: '0.01', description: 'Data' }
  app.get('/bound/paid', bound.charge(order), (context) => context.json({ paid: true }))
  app.get('/open/paid', async (context) => {
    const answer = await open.charge(order)(context.req.raw)
    return answer.status === 402
      ? answer.challenge
      : answer.withReceipt(context.json({ paid: true }))
  })
  const { url, close } = await listen(app.fetch)
  atEnd(close)
  return { url, paid }
}
