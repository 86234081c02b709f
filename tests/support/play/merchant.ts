/**
 * The thief's merchant. It charges what the path says, keeps each payment that it is sent, and settles it
 * now, later, in company or never, while its answers say whatever suits it.
 */
import * as z from 'zod'
import { hex } from '../chain-world.ts'
import { permitPayload } from '../permit2.ts'
import { authorizationCall } from '../signed-call.ts'
import { challengeV2, headerOf, requirementV2 } from '../x402.ts'
import type { Rail } from './actions.ts'
import { crowdAt, sender } from './blocks.ts'
import { type Step, settleStep } from './contracts.ts'
import { shopHost } from './network.ts'

/** A payment that the merchant holds. */
export type Held = {
  rail: Rail
  payee: string
  amount: bigint
  /** The contract that must use it, if there is one. */
  crowd: string | undefined
  /** Returns the call that takes this amount, or all if it cannot take less. */
  step(amount: bigint): Step
}

export type Order = { rail: Rail; micros: number; payee: string; crowd: boolean; at: number }

/** Returns the URL of a resource, which states its price. */
export function resourceOf({ rail, micros, payee, crowd, at }: Order): string {
  return `https://${shopHost}/${rail}/${micros}/${payee}/${crowd ? 'crowd' : 'person'}/${at}`
}

const rails = z.enum(['eip3009', 'mpp', 'exact', 'upto'])
const path = z.tuple([rails, z.string(), z.string(), z.string(), z.string()])

function orderOf(url: string): Order {
  const [rail, micros, payee, by, at] = path.parse(new URL(url).pathname.split('/').slice(1))
  return { rail, micros: Number(micros), payee, crowd: by === 'crowd', at: Number(at) }
}

/** Returns the 402 response that requests payment. */
export function ask(url: string, usdc: string, now: Date): Response {
  const { rail, micros, payee, crowd, at } = orderOf(url)
  if (rail === 'mpp') return askMpp({ micros, payee, at }, usdc, now)
  const facilitatorAddress = crowd ? crowdAt(at) : sender
  const scheme = rail === 'upto' ? 'upto' : 'exact'
  const extra = {
    eip3009: { name: 'USDC', version: '2' },
    exact: { name: 'USDC', version: '2', assetTransferMethod: 'permit2' },
    upto: { name: 'USDC', version: '2', facilitatorAddress },
  }[rail]
  const requirement = requirementV2({ scheme, amount: `${micros}`, payTo: payee, extra })
  const challenge = challengeV2([requirement], { resource: { url } })
  return new Response(null, {
    status: 402,
    headers: { 'payment-required': headerOf(challenge) },
  })
}

function askMpp(
  { micros, payee, at }: Pick<Order, 'micros' | 'payee' | 'at'>,
  usdc: string,
  now: Date,
): Response {
  const terms = {
    amount: `${micros}`,
    currency: usdc,
    recipient: payee,
    methodDetails: { chainId: 84532, credentialTypes: ['authorization'] },
  }
  const request = Buffer.from(JSON.stringify(terms)).toString('base64url')
  const expires = new Date(now.getTime() + 300_000).toISOString()
  const fields = {
    id: `c-${at}`,
    realm: shopHost,
    method: 'evm',
    intent: 'charge',
    expires,
    request,
  }
  const values = Object.entries(fields).map(([name, value]) => `${name}="${value}"`)
  return new Response(null, {
    status: 402,
    headers: { 'www-authenticate': `Payment ${values.join(', ')}` },
  })
}

const authorized = z.object({
  signature: z.string(),
  authorization: z.object({
    from: z.string(),
    to: z.string(),
    value: z.string(),
    validAfter: z.coerce.string(),
    validBefore: z.coerce.string(),
    nonce: z.string(),
  }),
})
const mppPayload = z
  .object({ signature: z.string() })
  .and(authorized.shape.authorization)
  .transform(({ signature, ...authorization }) => ({ signature, authorization }))

/** Returns the payment that a request carries, if any. */
export function paymentIn(request: Request, usdc: string): Held | undefined {
  const header =
    request.headers.get('payment-signature') ?? request.headers.get('authorization')?.slice(8)
  if (header === undefined || header === null) return undefined
  const { rail, micros, payee, crowd: isCrowd, at } = orderOf(request.url)
  const read: unknown = JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
  const { payload } = z.object({ payload: z.unknown() }).parse(read)
  const crowd = rail === 'upto' && isCrowd ? crowdAt(at) : undefined
  const common = { rail, payee, amount: BigInt(micros), crowd }
  if (rail === 'exact' || rail === 'upto') {
    const permit = permitPayload.parse(payload)
    return { ...common, step: (amount) => settleStep(permit, amount) }
  }
  const { authorization, signature } = (rail === 'mpp' ? mppPayload : authorized).parse(payload)
  const data = hex(authorizationCall({ ...authorization, signature }))
  return { ...common, step: () => ({ target: usdc, data }) }
}
