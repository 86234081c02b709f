/**
 * All that a 402 asks for, in whichever protocols it speaks: x402 in its header or body, MPP and
 * others in WWW-Authenticate. They are ways to pay for one thing, so one of them is paid at most.
 */
import * as z from 'zod'
import { shown } from '../mail/untrusted.ts'
import type { AuthChallenge } from './auth-challenge.ts'
import { readAuthChallenges } from './auth-challenge.ts'
import type { Challenge, ChallengeRefusal } from './challenge.ts'
import { readChallenge, readChallengeHeader } from './challenge.ts'
import { readForeign } from './foreign.ts'
import { readMppChallenge } from './mpp.ts'
import type { UnpayableOffer } from './offer.ts'
import type { FrozenRequest } from './request.ts'

/** Ways to pay that can be judged, and those that can only be shown. */
export type Demand = Challenge & { others: UnpayableOffer[] }

/** An answer of status 402, its body as JSON. */
export type Asking = { headers: Pick<Headers, 'get'>; body: unknown }

/** Reads everything; x402 that cannot be read is passed over only where another way is offered. */
export function readDemand(
  { headers, body }: Asking,
  request: FrozenRequest,
  now: Date,
): Demand | ChallengeRefusal {
  const challenges = readAuthChallenges(headers.get('www-authenticate') ?? '')
  const { offers, others } = readMpp(challenges, request, now)
  others.push(...readForeign(challenges, headers))
  // Some servers of version 1 send the header of version 2 too, and leave it empty.
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

/** MPP servers say what is wrong as RFC 9457 problems. */
function problemOf(body: unknown): { error?: string } {
  const problem = problemFields.safeParse(body)
  return problem.success ? { error: shown(problem.data.detail) } : {}
}
