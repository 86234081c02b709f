/**
 * A shop of the official packages, `@x402/hono` and the exact scheme of `@x402/evm`: a test writes the
 * handler behind the payment, and can lose what the facilitator answers to a settlement.
 */
import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/hono'
import { type Context, Hono } from 'hono'
import { listen } from '../../scripts/local/process/listen.ts'
import { newKey } from './chain-world.ts'
import { atEnd } from './ending.ts'
import { type Answering, serverThat } from './http.ts'
import type { Market } from './market.ts'

export type OfficialShop = {
  url: string
  payTo: `0x${string}`
  /** Payments as they arrived, each as often as it was sent. */
  paid: string[]
  settling: {
    /** Status that answers a settlement instead of making it. */
    loses?: 504 | 200
    /** Makes the settlements whose answers were lost. */
    late(): Promise<unknown>
  }
}

/** Opens a shop at every path of which the handler answers a GET or POST that was paid for. */
export async function openOfficialShop(
  market: Pick<Market, 'chain' | 'facilitator'>,
  handler: (context: Context) => Response | Promise<Response>,
  extra: Record<string, unknown> = {},
): Promise<OfficialShop> {
  const payTo = newKey().at
  const paid: string[] = []
  const lost: string[] = []
  const forward = (path: string, body?: string) =>
    fetch(`${market.facilitator.url}${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body }),
      headers: { 'content-type': 'application/json' },
    })
  const settling: OfficialShop['settling'] = {
    late: () => Promise.all(lost.splice(0).map((body) => forward('/settle', body))),
  }
  const facilitator = await listen(async (request) => {
    const body = request.method === 'POST' ? await request.text() : undefined
    const { pathname } = new URL(request.url)
    if (pathname !== '/settle' || settling.loses === undefined) return forward(pathname, body)
    lost.push(body ?? '')
    return new Response('Gateway Timeout', { status: settling.loses })
  })
  const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitator.url }))
  server.register('eip155:*', new ExactEvmScheme())
  const { network } = market.chain
  const accepts = { scheme: 'exact', payTo, price: '$0.01', network, maxTimeoutSeconds: 300, extra }
  const app = new Hono()
  app.use(async ({ req }, next) => {
    const payment = req.header('payment-signature')
    if (payment !== undefined) paid.push(payment)
    await next()
  })
  app.use(paymentMiddleware({ 'GET /*': { accepts }, 'POST /*': { accepts } }, server))
  app.all('*', handler)
  const shop = await listen(app.fetch)
  atEnd(() => Promise.all([shop.close(), facilitator.close()]))
  return { url: shop.url, payTo, paid, settling }
}

/**
 * Opens a server before a shop that keeps what the shop answers to a payment. `first` answers a payment that
 * it sees for the first time; each later time the kept answer comes whole.
 */
export async function openKeepingFront({ url }: Pick<OfficialShop, 'url'>, first: Answering) {
  const kept = new Map<string, string>()
  return serverThat((response, received) => {
    const payment = received.headers['payment-signature']
    if (payment !== undefined && kept.has(String(payment))) {
      return void response.writeHead(200).end(kept.get(String(payment)))
    }
    const headers = payment === undefined ? {} : { 'payment-signature': String(payment) }
    void fetch(url, { headers }).then(async (given) => {
      const text = await given.text()
      const asking = given.headers.get('payment-required') ?? ''
      if (payment === undefined) {
        return void response.writeHead(given.status, { 'payment-required': asking }).end(text)
      }
      kept.set(String(payment), text)
      first(response, received)
    })
  })
}
