/**
 * Merchant on the original, version 1 package x402-hono: GET and POST /v1/paid for 0.01 USDC on
 * base-sepolia. Reads FACILITATOR_URL, PAY_TO and, if set, PORT; prints `{"url": ...}` when it is up.
 */
import { createHash } from 'node:crypto'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { paymentMiddleware } from 'x402-hono'

const { FACILITATOR_URL: facilitatorUrl, PAY_TO: payTo, PORT: port = '0' } = process.env
if (!facilitatorUrl || !payTo) throw new Error('FACILITATOR_URL and PAY_TO must be set')

const route = { price: '$0.01', network: 'base-sepolia' }
const app = new Hono()
app.use(
  paymentMiddleware(
    payTo,
    { 'GET /v1/paid': route, 'POST /v1/paid': route },
    { url: facilitatorUrl },
  ),
)
app.on(['GET', 'POST'], '/v1/paid', async (context) => {
  const body = Buffer.from(await context.req.arrayBuffer())
  return context.json({
    paid: true,
    method: context.req.method,
    query: context.req.query(),
    content_type: context.req.header('content-type') ?? null,
    body_bytes: body.length,
    body_sha256: createHash('sha256').update(body).digest('hex'),
  })
})

serve({ fetch: app.fetch, port: Number(port), hostname: '127.0.0.1' }, (address) => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${address.port}` })}\n`)
})
