/** The sandbox behind an address of its own, with a facilitator that a test chooses, and buyers who sign by themselves. */
import type { PrivateKeyAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import * as z from 'zod'
import { sandboxFunction } from '../../functions/sandbox/serve.ts'
import { fund } from '../../scripts/local/chain.ts'
import { listen } from '../../scripts/local/process/listen.ts'
import type { Config } from '../../shared/env.ts'
import { newKey } from './chain-world.ts'
import type { Unanswered } from './deadlines.ts'
import { authorizationTypes } from './eip3009.ts'
import { atEnd } from './ending.ts'
import type { Market } from './market.ts'
import { randomBytes } from './seed.ts'
import { headerOf, requirementV1, requirementV2 } from './x402.ts'

export type Sandbox = { url: string; payTo: `0x${string}` }

/** Opens a sandbox; the facilitator is that of the market unless the test has another one. */
export async function openSandbox(
  market: Market,
  facilitatorUrl = market.facilitator.url,
  differs: Partial<Config> = {},
): Promise<Sandbox> {
  const payTo = newKey().at
  let url = ''
  const sandbox = sandboxFunction(() => ({
    ...market.world,
    config: {
      ...market.world.config,
      BASE_URL: url,
      SANDBOX_PAY_TO: payTo,
      SANDBOX_FACILITATOR_URL: facilitatorUrl,
      ...differs,
    },
  }))
  const listening = await listen((request) => sandbox.fetch(request))
  atEnd(() => listening.close())
  url = listening.url
  return { url, payTo }
}

export type Facilitating = (
  path: string,
  /** Sends the request on to the official facilitator. */
  honest: () => Promise<Record<string, unknown>>,
  /** The request, as the deadlines of the world know it. */
  received: Unanswered,
) => Promise<Response | Record<string, unknown>> | Response | Record<string, unknown>

/** Opens a fake facilitator in front of the official one, which may change, lose or invent answers. */
export async function openFakeFacilitator(market: Market, answer: Facilitating) {
  const asked: string[] = []
  const listening = await listen(async (request) => {
    const path = new URL(request.url).pathname
    const body = request.method === 'POST' ? await request.text() : undefined
    asked.push(path)
    const honest = async () => {
      const init = body === undefined ? {} : { method: 'POST', body }
      const headers = { 'content-type': 'application/json' }
      const given = await fetch(`${market.facilitator.url}${path}`, { ...init, headers })
      return z.record(z.string(), z.unknown()).parse(await given.json())
    }
    const { method, url } = request
    const headers = Object.fromEntries(request.headers)
    const received = { method, url, headers, ...(body !== undefined && { body }) }
    const given = await answer(path, honest, received)
    return given instanceof Response ? given : Response.json(given)
  })
  atEnd(() => listening.close())
  return { url: listening.url, asked }
}

/** Creates a buyer with one USDC on the market's chain, who signs what a test says. */
export async function openBuyer(market: Market): Promise<PrivateKeyAccount> {
  const buyer = privateKeyToAccount(generatePrivateKey())
  await fund(market.chain, buyer.address, { usdcAtomic: 1_000_000n })
  return buyer
}

/** Differences of a payment from what the sandbox offers. */
export type Changed = {
  to?: `0x${string}`
  value?: string
  chainId?: number
  /** Seconds from the present at which it begins and ends. */
  after?: number
  before?: number
  /** Fields of the terms that version 2 repeats. */
  accepted?: Record<string, unknown>
  nonce?: `0x${string}`
}

/** Signs a payment to the sandbox, with these differences. */
export async function signTestPayment(
  market: Market,
  buyer: PrivateKeyAccount,
  payTo: `0x${string}`,
  changed: Changed = {},
) {
  const { to = payTo, value = '10000', chainId = 84532, after = -600, before = 300 } = changed
  const seconds = Math.floor(market.world.now().getTime() / 1000)
  const nonce = changed.nonce ?? (`0x${randomBytes(32).toString('hex')}` as const)
  const [validAfter, validBefore] = [`${seconds + after}`, `${seconds + before}`]
  const authorization = { from: buyer.address, to, value, validAfter, validBefore, nonce }
  const signature = await buyer.signTypedData({
    domain: { name: 'USDC', version: '2', chainId, verifyingContract: market.chain.usdc },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...authorization,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
    },
  })
  return { authorization, signature }
}

type Signed = Awaited<ReturnType<typeof signTestPayment>>

/** Returns the payment headers of versions 1 and 2 by the paths of their reports. */
export function headersFor(payTo: string, payload: Signed, accepted: Changed['accepted'] = {}) {
  const v2 = {
    x402Version: 2,
    accepted: { ...requirementV2({ payTo, maxTimeoutSeconds: 300 }), ...accepted },
    payload,
  }
  const { scheme, network } = { ...requirementV1(), ...accepted }
  const v1 = { x402Version: 1, scheme, network, payload }
  return {
    '/sandbox/v2/report': { 'payment-signature': headerOf(v2) },
    '/sandbox/v1/report': { 'x-payment': headerOf(v1) },
  }
}
