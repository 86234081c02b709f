/**
 * A merchant of the official packages that is paid through Permit2, and a facilitator that follows the
 * proxies' source. The test decides how much upto takes, and whether anything is settled.
 */

import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { UptoEvmScheme } from '@x402/evm/upto/server'
import { paymentMiddleware, setSettlementOverrides, x402ResourceServer } from '@x402/hono'
import { Hono } from 'hono'
import * as z from 'zod'
import type { Chain } from '../../scripts/local/chain.ts'
import { listen } from '../../scripts/local/process/listen.ts'
import { newKey } from './chain-world.ts'
import { atEnd } from './ending.ts'
import { permitPayload, useAllowance, usePermit } from './permit2.ts'

const settleSchema = z.object({
  paymentPayload: z.object({
    payload: permitPayload,
    extensions: z
      .object({ eip2612GasSponsoring: z.object({ info: z.record(z.string(), z.unknown()) }) })
      .partial()
      .optional(),
  }),
  paymentRequirements: z.object({ amount: z.string() }),
})

export type Permit2Merchant = {
  url: string
  payTo: `0x${string}`
  /** Units that an upto route takes of its 40; if absent, nothing is settled. */
  takes: { amount: bigint | undefined; answersAreLost: boolean; claims?: string | undefined }
  /** Payments as they arrived. */
  paid: z.output<typeof settleSchema>['paymentPayload'][]
}

export async function startPermit2Merchant(chain: Chain): Promise<Permit2Merchant> {
  const facilitator = newKey().at
  const payTo = newKey().at
  const takes: Permit2Merchant['takes'] = { amount: 40n, answersAreLost: false }
  const paid: Permit2Merchant['paid'] = []
  const { url: facilitatorUrl, close: closeFacilitator } = await listen(async (request) => {
    if (request.method === 'GET') return Response.json(supported(chain, facilitator))
    const asked = settleSchema.parse(await request.json())
    const { permit2Authorization: permit } = asked.paymentPayload.payload
    const payer = permit.from
    if (request.url.endsWith('/verify')) return Response.json({ isValid: true, payer })
    paid.push(asked.paymentPayload)
    if (takes.amount === undefined) return Response.json({ error: 'lost' }, { status: 500 })
    const network = chain.network
    const { claims } = takes
    if (claims) return Response.json({ success: true, transaction: claims, network, payer })
    const amount = BigInt(asked.paymentRequirements.amount)
    if (amount === 0n) {
      return Response.json({ success: true, transaction: '', network, payer, amount: '0' })
    }
    const info = asked.paymentPayload.extensions?.eip2612GasSponsoring?.info
    if (info?.['signature']) await useAllowance(chain, facilitator, info)
    const transaction = await usePermit(chain, asked.paymentPayload.payload, amount)
    if (takes.answersAreLost) return Response.json({ error: 'lost' }, { status: 500 })
    return Response.json({ success: true, transaction, network, payer, amount: `${amount}` })
  })
  const { url, close } = await listen(shop(chain, facilitatorUrl, payTo, takes).fetch)
  atEnd(() => Promise.all([close(), closeFacilitator()]))
  return { url, payTo, takes, paid }
}

function supported({ network }: Chain, facilitatorAddress: string) {
  const kinds = [
    { x402Version: 2, scheme: 'exact', network },
    { x402Version: 2, scheme: 'upto', network, extra: { facilitatorAddress } },
  ]
  return { kinds, extensions: ['eip2612GasSponsoring'], signers: {} }
}

/**
 * Opens the shop. /exact and /upto cost 40 units and /least one, with a sponsored allowance; under /bare
 * without one.
 */
function shop(
  { network, usdc }: Chain,
  url: string,
  payTo: string,
  takes: Permit2Merchant['takes'],
) {
  const server = new x402ResourceServer(new HTTPFacilitatorClient({ url }))
  server.register('eip155:*', new ExactEvmScheme())
  server.register('eip155:*', new UptoEvmScheme())
  const extra = { name: 'USDC', version: '2', assetTransferMethod: 'permit2' }
  const price = { amount: '40', asset: usdc, extra }
  const route = (scheme: string) => ({ accepts: { scheme, payTo, price, network } })
  const extensions = { eip2612GasSponsoring: { info: { version: '1' }, schema: {} } }
  const routes = {
    'GET /exact': { ...route('exact'), extensions },
    'GET /upto': { ...route('upto'), extensions },
    'GET /least': {
      accepts: { scheme: 'exact', payTo, price: { ...price, amount: '1' }, network },
      extensions,
    },
    'GET /bare/exact': route('exact'),
    'GET /bare/upto': route('upto'),
  }
  const app = new Hono()
  app.use(paymentMiddleware(routes, server))
  app.get('*', (context) => {
    const isUpto = context.req.path.endsWith('upto')
    if (isUpto) setSettlementOverrides(context, { amount: `${takes.amount ?? 40n}` })
    return context.json({ paid: true })
  })
  return app
}
