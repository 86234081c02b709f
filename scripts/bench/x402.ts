/** Compares a purchase through prepare and execute with the official client, in turns. */
import { x402Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import * as z from 'zod'
import { startFacilitator } from '../local/chain/facilitator.ts'
import { startMerchant } from '../local/chain/merchants.ts'
import { fund } from '../local/chain.ts'
import { listen } from '../local/process/listen.ts'
import { type Figure, median, quantile } from './report.ts'
import type { BenchWorld } from './world.ts'

const perRound = 8
const preparedBody = z.object({ attempt_id: z.uuid() })
const executedBody = z.object({ status: z.literal('settled') })

/** Measures both clients, and the product's own time without the merchant's answers. */
export async function benchX402(world: BenchWorld, rounds: number): Promise<Figure[]> {
  const facilitator = await startFacilitator({ chains: [world.chain] })
  const merchant = await startMerchant({ facilitatorUrl: facilitator.url, chains: [world.chain] })
  const stopwatch = await timeAnswersOf(merchant.url)
  try {
    const url = `${stopwatch.url}/v2/paid`
    const [ours, official] = [await throughProduct(world, url), await throughClient(world, url)]
    const found = { ours: [] as number[], official: [] as number[], own: [] as number[] }
    for (let at = 0; at < rounds * perRound + 5; at += 1) {
      const [a, b] = [await timed(ours, stopwatch), await timed(official, stopwatch)]
      if (at < 5) continue
      found.ours.push(a.total)
      found.own.push(a.total - a.merchant)
      found.official.push(b.total)
    }
    return figuresOf(found)
  } finally {
    await stopwatch.close()
    await merchant.close()
    await facilitator.close()
  }
}

function figuresOf({
  ours,
  official,
  own,
}: Record<'ours' | 'official' | 'own', number[]>): Figure[] {
  const detail = {
    'p50 ms': median(ours),
    'p50 ms of the official client': median(official),
    'p95 ratio': quantile(ours, 0.95) / quantile(official, 0.95),
  }
  const value = median(ours) / median(official)
  return [
    { name: 'x402 prepare and execute, over the official client', value, target: 1.25, detail },
    {
      name: "x402 own time outside the merchant's answer, ms",
      value: median(own),
      target: 15,
      detail: { 'p95 ms': quantile(own, 0.95) },
    },
  ]
}

type Stopwatch = { takeMilliseconds(): number }

async function timed(run: () => Promise<void>, stopwatch: Stopwatch) {
  stopwatch.takeMilliseconds()
  const began = performance.now()
  await run()
  return { total: performance.now() - began, merchant: stopwatch.takeMilliseconds() }
}

/** Starts a pass-through in front of the merchant that adds up how long its answers took. */
async function timeAnswersOf(target: string) {
  let spent = 0
  const listening = await listen(async (request) => {
    const began = performance.now()
    const { pathname, search } = new URL(request.url)
    const answer = await fetch(target + pathname + search, {
      method: request.method,
      headers: request.headers,
    })
    const body = await answer.arrayBuffer()
    spent += performance.now() - began
    return new Response(body, { status: answer.status, headers: answer.headers })
  })
  const takeMilliseconds = () => {
    const taken = spent
    spent = 0
    return taken
  }
  return { ...listening, takeMilliseconds }
}

async function throughProduct(world: BenchWorld, url: string): Promise<() => Promise<void>> {
  const { key, address } = await world.agent(world.sql)
  await fund(world.chain, address, { usdcAtomic: 10n ** 12n })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await fetch(`${world.url}${path}`, init)).json()
  }
  return async () => {
    const prepared = await post('/x402-payment-prepare', { resource_url: url })
    const { attempt_id } = preparedBody.parse(prepared)
    const executed = await post('/x402-payment-execute', { attempt_id, user_confirmed: true })
    executedBody.parse(executed)
  }
}

async function throughClient(world: BenchWorld, url: string): Promise<() => Promise<void>> {
  const account = privateKeyToAccount(generatePrivateKey())
  await fund(world.chain, account.address, { usdcAtomic: 10n ** 12n })
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
  const pay = wrapFetchWithPayment(fetch, client)
  return async () => {
    const answer = await pay(url)
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`the official client got ${answer.status}`)
  }
}
