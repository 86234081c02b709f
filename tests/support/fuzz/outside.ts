/** Servers outside the service: merchants and sites that give all kinds of answers and never go away. */
import type { Fetch } from '../../../shared/world.ts'

const offer = {
  scheme: 'exact',
  network: 'eip155:84532',
  asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  amount: '10000',
  payTo: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC', version: '2' },
}

function challenge(change: object) {
  const resource = { url: 'https://merchant.example.com/paid', description: '', mimeType: '' }
  const terms = { x402Version: 2, error: '', resource, accepts: [{ ...offer, ...change }] }
  return { status: 402, headers: { 'payment-required': btoa(JSON.stringify(terms)) } }
}

const answers: Record<string, () => Response> = {
  '/paid': () => new Response('{}', challenge({})),
  '/lies': () => new Response('{}', challenge({ amount: '99999999999999999999999999' })),
  '/broken': () => new Response('no', { status: 500 }),
  '/moved': () => Response.redirect('https://elsewhere.example.com/', 302),
  '/text': () => new Response('\u0000 a \ud800 text', { headers: { 'x-a': 'b' } }),
}

/** Returns a network on which only these servers exist, besides the test's own local ones. */
export function outsideOf(own: readonly string[], network: Fetch): Fetch {
  const ours = new Set(own.map((url) => new URL(url).origin))
  return async (input, init) => {
    const { origin, pathname } = new URL(input instanceof Request ? input.url : input)
    if (ours.has(origin)) return network(input, init)
    return (answers[pathname] ?? (() => Response.json({ ok: true })))()
  }
}
