/**
 * Reads a challenge of x402 version 1 or 2, tolerantly, from the header or a parsed body. Nothing that is
 * read here is trusted; offers.ts decides what can be paid.
 */
import * as z from 'zod'
import { decodeText, parseJson } from '../base64.ts'
import { findChain } from '../chains/registry.ts'
import { fail } from '../contract/errors.ts'
import { isStorable } from '../contract/keepable.ts'
import type { Offer } from './offer.ts'

/** Payment terms that a server asks for. */
export type Challenge = {
  offers: Offer[]
  /** Error text of the server, which is untrusted. */
  error?: string
}

/** Refusal of a challenge that cannot be read, with the reason. */
export type ChallengeRefusal = ReturnType<typeof fail<'invalid_challenge'>>

const headerLengthMax = 32_768
const offersMax = 32
/** Longest challenge as JSON. It is stored with the payment and echoed. */
const challengeLengthMax = 65_536

const short = z.string().min(1).max(256)
const requirementFields = z.looseObject({
  scheme: short,
  network: short,
  asset: short,
  payTo: short,
  // Version 2 uses amount, version 1 maxAmountRequired (x402 specification, sections 5.1).
  amount: z
    .string()
    .regex(/^(0|[1-9][0-9]{0,77})$/)
    .optional(),
  maxAmountRequired: z
    .string()
    .regex(/^(0|[1-9][0-9]{0,77})$/)
    .optional(),
  maxTimeoutSeconds: z.int().positive(),
  extra: z.record(z.string(), z.unknown()).nullish(),
})

const challengeFields = z.looseObject({
  x402Version: z.union([z.literal(1), z.literal(2)]),
  accepts: z.array(z.unknown()).min(1).max(offersMax),
  resource: z.unknown().optional(),
  extensions: z.unknown().optional(),
  error: z.unknown().optional(),
})

/** Reads a PAYMENT-REQUIRED header. */
export function readChallengeHeader(header: string): Challenge | ChallengeRefusal {
  if (header.length > headerLengthMax) return refused('The PAYMENT-REQUIRED header is too long.')
  const text = decodeText(header.trim())
  if (text === undefined) return refused('The PAYMENT-REQUIRED header is not base64 of UTF-8.')
  return readChallenge(parseJson(text))
}

/** Reads a parsed challenge. Some servers send version 2 in the body too. */
export function readChallenge(value: unknown): Challenge | ChallengeRefusal {
  if (!isStorable(value)) return refused('The challenge nests too deeply or holds broken text.')
  if ((JSON.stringify(value)?.length ?? 0) > challengeLengthMax) {
    return refused(`The challenge is longer than ${challengeLengthMax} characters.`)
  }
  const parsed = challengeFields.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return refused(`The challenge has no valid ${issue?.path.join('.') || 'JSON object'}.`)
  }
  const { x402Version: version, accepts, resource, extensions, error } = parsed.data
  const echoed = {
    version,
    ...(resource === undefined ? {} : { resource }),
    ...(extensions === undefined ? {} : { extensions }),
  }
  const read = accepts.map((entry) => readOffer(entry, echoed))
  const offers = read.filter((one) => typeof one !== 'string')
  const unread = read.find((one) => typeof one === 'string')
  if (offers.length === 0) {
    return refused(`None of the offers in accepts can be read: the first has no valid ${unread}.`)
  }
  return {
    offers,
    ...(typeof error === 'string' ? { error: error.slice(0, 256).toWellFormed() } : {}),
  }
}

type Echoed = Pick<Offer, 'version' | 'resource' | 'extensions'>

/** Reads an offer, or returns the name of the field for which it cannot be read. */
function readOffer(entry: unknown, echoed: Echoed): Offer | string {
  const parsed = requirementFields.safeParse(entry)
  if (!parsed.success) return parsed.error.issues[0]?.path.join('.') || 'JSON object'
  const { amount, maxAmountRequired, extra, ...fields } = parsed.data
  const stated = amount ?? maxAmountRequired
  // Two prices in one offer: whichever is signed, the server could claim that the other one applies.
  if (stated === undefined || stated !== (maxAmountRequired ?? stated)) return 'amount'
  return {
    protocol: 'x402',
    ...echoed,
    requirement: parsed.data,
    scheme: fields.scheme,
    network: fields.network,
    chain: findChain(fields.network)?.caip2,
    amountAtomic: BigInt(stated),
    asset: fields.asset,
    payTo: fields.payTo,
    maxTimeoutSeconds: fields.maxTimeoutSeconds,
    extra: extra ?? {},
  }
}

function refused(message: string): ChallengeRefusal {
  return fail('invalid_challenge', { message })
}
