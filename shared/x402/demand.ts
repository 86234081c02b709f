/**
 * Reads all payment terms of a 402 answer, in every protocol that it uses: x402 in its header or body, MPP
 * and others in WWW-Authenticate. They are ways to pay for one thing, so at most one is paid.
 */
import * as z from 'zod'
import { shortVisible } from '../mail/untrusted.ts'
import type { AuthChallenge } from './auth-challenge.ts'
import { readAuthChallenges } from './auth-challenge.ts'
import type { Challenge, ChallengeRefusal } from './challenge.ts'
import { readChallenge, readChallengeHeader } from './challenge.ts'
import { readUnsupportedSchemes } from './foreign.ts'
import { readMppChallenge } from './mpp.ts'
import type { UnpayableOffer } from './offer.ts'
import type { FrozenRequest } from './request.ts'

/** Offers that can be judged, and others that can only be shown. */
export type OfferedTerms = Challenge & { others: UnpayableOffer[] }

/** An answer of status 402, with its body parsed as JSON. */
export type PaymentRequiredResponse = { headers: Pick<Headers, 'get'>; body: unknown }

/** Reads all terms. Invalid x402 is ignored only if there is another way to pay. */
export function readOfferedTerms(
  { headers, body }: PaymentRequiredResponse,
  request: FrozenRequest,
  now: Date,
): OfferedTerms | ChallengeRefusal {
  const challenges = readAuthChallenges(headers.get('www-authenticate') ?? '')
  const { offers, others } = readMpp(challenges, request, now)
  others.push(...readUnsupportedSchemes(challenges, headers))
  const x402 = readX402(headers.get('payment-required')?.trim() ?? '', body)
  if (!('refusal' in x402)) return { ...x402, offers: [...x402.offers, ...offers], others }
  if (offers.length + others.length === 0) return x402
  const error = problemOf(body)
  return { offers, others, ...(error === undefined ? {} : { error }) }
}

/**
 * Reads x402 from the header, or from the body if the header is missing, empty (as some servers of version 1
 * send it) or cannot be read. If neither can, what is wrong with the header is told.
 */
function readX402(header: string, body: unknown): Challenge | ChallengeRefusal {
  if (header === '') return readChallenge(body)
  const fromHeader = readChallengeHeader(header)
  if (!('refusal' in fromHeader)) return fromHeader
  const fromBody = readChallenge(body)
  return 'refusal' in fromBody ? fromHeader : fromBody
}

/**
 * True if an answer that asks for a payment anew may come after settling was tried: mppx gives one problem
 * for a payment that failed verification and for one that failed to settle.
 */
export function mayFollowSettling(body: unknown): boolean {
  const problem = z.looseObject({ type: z.string() }).safeParse(body)
  return problem.success && problem.data.type.endsWith('/problems/verification-failed')
}

/** True if the headers ask for a payment, in a protocol that is paid here. */
export function asksForPayment(headers: Pick<Headers, 'get'>): boolean {
  const isX402 = (headers.get('payment-required')?.trim() ?? '') !== ''
  const challenges = readAuthChallenges(headers.get('www-authenticate') ?? '')
  return isX402 || challenges.some(({ scheme }) => scheme === 'payment')
}

function readMpp(challenges: readonly AuthChallenge[], request: FrozenRequest, now: Date) {
  const read = challenges
    .filter(({ scheme }) => scheme === 'payment')
    .map(({ params }) => readMppChallenge(params, request, now))
  return {
    offers: read.filter((one) => 'requirement' in one),
    others: read.filter((one) => 'reason' in one),
  }
}

const words = z.string().min(1).optional().catch(undefined)
const problemFields = z.looseObject({ detail: words, title: words, error: words })

/** Returns what a body says is wrong: the detail or title of an RFC 9457 problem, or the field `error`. */
export function problemOf(body: unknown): string | undefined {
  const problem = problemFields.safeParse(body)
  const text = problem.data?.detail ?? problem.data?.title ?? problem.data?.error
  return text === undefined ? undefined : shortVisible(text)
}
