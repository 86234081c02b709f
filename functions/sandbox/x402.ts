/** The `exact` scheme of x402 by EIP-3009, in version 1 (challenge in the body) and version 2 (in a header). */
import * as z from 'zod'
import { decodeText, encodeText, parseJson } from '../../shared/base64.ts'
import { requirementOf, type TestOffer } from './offers.ts'
import { authorizationSchema, signatureSchema, type TestPayment } from './payment.ts'
import { otherOffer, type Protocol, unreadable } from './protocol.ts'

const description = 'A report of the sandbox, for test money'
const mimeType = 'application/json'

const payload = z.object({ authorization: authorizationSchema, signature: signatureSchema })
const text = z.string()
const v1Schema = z.object({ x402Version: z.literal(1), scheme: text, network: text, payload })
const accepted = z.looseObject({
  scheme: text,
  network: text,
  amount: text,
  asset: text,
  payTo: text,
})
const v2Schema = z.object({ x402Version: z.literal(2), accepted, payload })

/** Version 1. */
export const x402V1: Protocol = {
  challenge(offers, { url: resource }, error) {
    const accepts = offers.map((offer) => {
      const { amount: maxAmountRequired, ...same } = requirementOf(offer)
      const network = offer.chain.name
      return { ...same, network, maxAmountRequired, resource, description, mimeType }
    })
    return { headers: [], body: { x402Version: 1, error, accepts } }
  },
  read(headers, offers) {
    const header = headers.get('x-payment')
    if (header === null) return undefined
    const read = v1Schema.safeParse(decodeHeader(header))
    if (!read.success) return unreadable
    const { scheme, network } = read.data
    const offer = offers.find(({ chain }) => scheme === 'exact' && network === chain.name)
    return offer ? { offer, ...read.data.payload } : otherOffer
  },
  receipt: (payment, outcome) => [['x-payment-response', settlementHeader(payment, outcome)]],
}

/** Version 2. */
export const x402V2: Protocol = {
  challenge(offers, { url }, error) {
    const resource = { url, description, mimeType }
    const required = { x402Version: 2, error, resource, accepts: offers.map(requirementOf) }
    return {
      headers: [['payment-required', encodeText(JSON.stringify(required))]],
      body: { error },
    }
  },
  read(headers, offers) {
    const header = headers.get('payment-signature')
    if (header === null) return undefined
    const read = v2Schema.safeParse(decodeHeader(header))
    if (!read.success) return unreadable
    const offer = offers.find((one) => isSameOffer(read.data.accepted, one))
    return offer ? { offer, ...read.data.payload } : otherOffer
  },
  receipt: (payment, outcome) => [['payment-response', settlementHeader(payment, outcome)]],
}

function isSameOffer(named: z.output<typeof accepted>, offer: TestOffer): boolean {
  const { scheme, network, amount, asset, payTo } = requirementOf(offer)
  return (
    named.scheme === scheme &&
    named.network === network &&
    named.amount === amount &&
    named.asset === asset &&
    named.payTo === payTo
  )
}

function settlementHeader(
  { offer, authorization }: TestPayment,
  outcome: Parameters<Protocol['receipt']>[1],
): string {
  const network = offer.chain.caip2
  const settled =
    outcome.kind === 'settled'
      ? { success: true, transaction: outcome.transaction }
      : { success: false, errorReason: outcome.reason, transaction: '' }
  return encodeText(JSON.stringify({ ...settled, network, payer: authorization.from }))
}

function decodeHeader(header: string): unknown {
  return parseJson(decodeText(header) ?? '')
}
