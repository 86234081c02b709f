/**
 * MPP, the Payment scheme of HTTP authentication, with the charge `evm/charge` by authorization. The nonce of the
 * authorization is the hash of its challenge, so that one challenge is paid once. Challenges are not kept and not
 * sealed: whoever invents one still pays the price to the operator.
 */
import * as z from 'zod'
import { decodeText, encodeTextForUrl, parseJson } from '../../shared/base64.ts'
import { sameHex } from '../../shared/chains/hex.ts'
import { challengeNonce } from '../../shared/custody/nonce.ts'
import { priceAtomic, type TestOffer, timeoutSeconds } from './offers.ts'
import { authorizationSchema, signatureSchema } from './payment.ts'
import { otherOffer, type Protocol, unreadable } from './protocol.ts'

const credentialSchema = z.object({
  challenge: z.object({
    id: z.string().min(1).max(128),
    realm: z.string(),
    method: z.literal('evm'),
    intent: z.literal('charge'),
    request: z.string().max(4_096),
  }),
  payload: authorizationSchema.extend({
    type: z.literal('authorization'),
    signature: signatureSchema,
  }),
})
const chargeSchema = z.object({
  amount: z.literal(priceAtomic),
  currency: z.string(),
  recipient: z.string(),
  methodDetails: z.object({ chainId: z.int() }),
})

/** MPP with one challenge for each offer. */
export const mpp: Protocol = {
  challenge(offers, { url, at, id }, error) {
    const expires = new Date(at.getTime() + timeoutSeconds * 1_000).toISOString()
    const { host } = new URL(url)
    const headers = offers.map((offer) => {
      const request = encodeTextForUrl(JSON.stringify(chargeOf(offer)))
      const fixed = { id: `${id}.${offer.chain.id}`, realm: host, method: 'evm', intent: 'charge' }
      const params = Object.entries({ ...fixed, request, expires })
      const challenge = params.map(([name, value]) => `${name}="${value}"`).join(', ')
      return ['www-authenticate', `Payment ${challenge}`] as const
    })
    return { headers, body: { error } }
  },
  read(headers, offers, { url }) {
    const [, credential] = /^Payment +(\S+)$/i.exec(headers.get('authorization') ?? '') ?? []
    if (credential === undefined) return undefined
    const read = credentialSchema.safeParse(parseJson(decodeText(credential) ?? ''))
    if (!read.success) return unreadable
    const { challenge, payload } = read.data
    const { type: _, signature, ...authorization } = payload
    const charge = chargeSchema.safeParse(parseJson(decodeText(challenge.request) ?? ''))
    if (challenge.realm !== new URL(url).host || !charge.success) return otherOffer
    if (authorization.nonce.toLowerCase() !== challengeNonce(challenge)) {
      return 'The nonce of the payment is not the hash of its challenge.'
    }
    const { currency, recipient, methodDetails } = charge.data
    const offer = offers.find(
      ({ chain, token, payTo }) =>
        chain.id === methodDetails.chainId &&
        sameHex(currency, token.address) &&
        sameHex(recipient, payTo),
    )
    return offer ? { offer, authorization, signature } : otherOffer
  },
  receipt(_, outcome, at) {
    if (outcome.kind !== 'settled') return []
    const { transaction: reference } = outcome
    const timestamp = at.toISOString()
    const receipt = { method: 'evm', reference, status: 'success', timestamp }
    return [['payment-receipt', encodeTextForUrl(JSON.stringify(receipt))]]
  },
}

function chargeOf({ chain, token, payTo }: TestOffer) {
  const { id: chainId } = chain
  const methodDetails = { chainId, credentialTypes: ['authorization'], decimals: token.decimals }
  return { amount: priceAtomic, currency: token.address, recipient: payTo, methodDetails }
}
