/** A payment as every protocol carries it: one EIP-3009 authorization over the whole price. */
import * as z from 'zod'
import { addressSchema, sameHex } from '../../shared/chains/hex.ts'
import { priceAtomic, type TestOffer } from './offers.ts'

const whole = z.string().regex(/^(0|[1-9][0-9]{0,77})$/)
/** Longest signature in characters; wallets that are contracts sign with more than 65 bytes. */
const signatureLengthMax = 8_192

/** Schema of the authorization and its signature. */
export const authorizationSchema = z.object({
  from: addressSchema,
  to: addressSchema,
  value: whole,
  validAfter: whole,
  validBefore: whole,
  nonce: z.string().regex(/^0x[0-9a-fA-F]{64}$/),
})
/** Schema of the signature. */
export const signatureSchema = z
  .string()
  .max(signatureLengthMax)
  .regex(/^0x([0-9a-fA-F]{2})+$/)

/** A payment for an offer of the sandbox. */
export type TestPayment = {
  offer: TestOffer
  authorization: z.output<typeof authorizationSchema>
  signature: string
}

/** Returns a sentence that says why the payment is not what was offered; the signature is not checked. */
export function paymentProblem({ offer, authorization }: TestPayment, now: Date) {
  const { to, value, validAfter, validBefore } = authorization
  const nowSeconds = BigInt(Math.floor(now.getTime() / 1000))
  if (!sameHex(to, offer.payTo)) return 'The payment is for another recipient.'
  if (value !== priceAtomic) return 'The payment is for another amount.'
  if (BigInt(validAfter) > nowSeconds) return 'The payment is not valid yet.'
  if (BigInt(validBefore) <= nowSeconds) return 'The payment has expired.'
  return undefined
}
