/** Builds the payment headers of a request: for x402 versions 1 and 2, and for MPP. */
import { getAddress } from 'viem/utils'
import * as z from 'zod'
import { encodeText } from '../base64.ts'
import { permit2Address } from '../chains/evm/rpc/places.ts'
import { formOf } from '../custody/payment-form.ts'
import type { SignedPayment } from '../custody/port.ts'
import { type Permit2Form, permit2Spenders } from '../custody/typed-digest.ts'
import { mppCredential } from './mpp.ts'
import type { Offer, TransferMethod } from './offer.ts'

/** The parts of an offer that the payment needs or echoes. */
export type PayloadTerms = Pick<
  Offer,
  'protocol' | 'version' | 'scheme' | 'network' | 'requirement' | 'resource' | 'extensions'
> & { transfer_method?: TransferMethod }

/** Name and value of a request header. */
export type Header = readonly [name: string, value: string]

/**
 * Returns the payment headers: PAYMENT-SIGNATURE for version 2, X-PAYMENT for version 1, and the header of
 * MPP. A server that mixes the versions may read either, so it gets the same payment in both.
 */
export function paymentHeaders(terms: PayloadTerms, signed: SignedPayment): Header[] {
  if (terms.protocol === 'mpp') return [mppCredential(terms, signed)]
  const value = encodeText(JSON.stringify(paymentPayload(terms, signed)))
  const old: Header = ['x-payment', value]
  if (terms.version === 1) return [old]
  return [['payment-signature', value], ...(isMixed(terms) ? [old] : [])]
}

/** Detects a version 1 requirement in a version 2 envelope, as thirdweb's `settlePayment` sends it. */
function isMixed({ version, requirement }: PayloadTerms): boolean {
  return version === 2 && requirement['amount'] === undefined
}

/** Returns the PaymentPayload that the header carries. */
export function paymentPayload(
  terms: PayloadTerms,
  signed: SignedPayment,
): Record<string, unknown> {
  const { signature, allowance: _, ...authorization } = signed
  const asset = String(terms.requirement['asset'])
  const form = formOf(terms)
  const payload =
    form.kind === 'permit2' ? permit2Payload(signed, form, asset) : { authorization, signature }
  const named = withIdentifier(terms.extensions, signed.nonce)
  const extensions = withAllowance(named, signed, asset)
  if (terms.version === 1) {
    return { x402Version: 1, scheme: terms.scheme, network: terms.network, payload }
  }
  // Servers that mix the versions match the payment by these two fields; all others use `accepted`.
  const { scheme, network } = terms
  return {
    x402Version: 2,
    ...(isMixed(terms) ? { scheme, network } : {}),
    payload,
    ...(extensions === undefined ? {} : { extensions }),
    ...(terms.resource === undefined ? {} : { resource: terms.resource }),
    accepted: terms.requirement,
  }
}

const sponsoring = 'eip2612GasSponsoring'

/** Returns `permit2Authorization` with its signature. Permit2 counts nonces, so it is a decimal number. */
export function permit2Payload(
  { from, to, value, validAfter, validBefore, nonce, signature }: SignedPayment,
  form: Permit2Form,
  asset: string,
): Record<string, unknown> {
  const facilitator =
    form.scheme === 'upto' ? { facilitator: getAddress(form.facilitator) } : undefined
  const permit2Authorization = {
    from,
    permitted: { token: getAddress(asset), amount: value },
    spender: permit2Spenders[form.scheme],
    nonce: BigInt(nonce).toString(),
    deadline: validBefore,
    witness: { to, ...facilitator, validAfter },
  }
  return { signature, permit2Authorization }
}

/** Returns true if the server submits the EIP-2612 permit for Permit2 on chain at its own cost. */
export function isSponsored(extensions: unknown): boolean {
  return isRecord(extensions) && isRecord(extensions[sponsoring])
}

type AllowanceFields = Pick<SignedPayment, 'from' | 'value' | 'validBefore' | 'allowance'>

/** Adds the signed allowance, if there is one, to the server's extensions. */
export function withAllowance(
  extensions: unknown,
  { from, value, validBefore, allowance }: AllowanceFields,
  asset: string,
): unknown {
  if (!allowance || !isRecord(extensions)) return extensions
  const offered = extensions[sponsoring]
  const { info: offeredInfo = {}, ...offeredRest } = isRecord(offered) ? offered : {}
  const info = {
    ...(isRecord(offeredInfo) ? offeredInfo : {}),
    from,
    asset: getAddress(asset),
    spender: permit2Address,
    amount: value,
    nonce: allowance.nonce,
    deadline: validBefore,
    signature: allowance.signature,
    version: '1',
  }
  return { ...extensions, [sponsoring]: { ...offeredRest, info } }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const name = 'payment-identifier'
const offered = z.looseObject({
  [name]: z.looseObject({ info: z.looseObject({ required: z.boolean() }) }),
})

/** Adds the payment's id if the server supports one. The id is always the same for one nonce. */
function withIdentifier(extensions: unknown, nonce: string): unknown {
  const read = offered.safeParse(extensions)
  if (!read.success) return extensions
  const { [name]: extension } = read.data
  // 16 to 128 letters, digits, hyphens and underscores.
  const info = { ...extension.info, id: `pay_${nonce.replace(/^0x/, '')}` }
  return { ...read.data, [name]: { ...extension, info } }
}
