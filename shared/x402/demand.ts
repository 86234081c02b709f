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
  // Some servers of version 1 also send the header of version 2, but leave it empty.
  const header = headers.get('payment-required')?.trim() ?? ''
  const x402 = header === '' ? readChallenge(body) : readChallengeHeader(header)
  if (!('refusal' in x402)) return { ...x402, offers: [...x402.offers, ...offers], others }
  if (offers.length + others.length === 0) return x402
  return { offers, others, ...problemOf(body) }
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

const problemFields = z.looseObject({ detail: z.string() })

/** Returns the error of an MPP server, which is the detail of an RFC 9457 problem. */
function problemOf(body: unknown): { error?: string } {
  const problem = problemFields.safeParse(body)
  return problem.success ? { error: shortVisible(problem.data.detail) } : {}
}
