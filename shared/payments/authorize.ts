/**
 * From an entered payment to a signature, or to the reason why not. Decides from facts, lets
 * custody commit the decision, and decides again when the facts moved on in between.
 */
import { assetOf } from '../chains/registry.ts'
import type { ErrorCode, Refusal } from '../contract/errors.ts'
import { fail, isRefusal, Rejection } from '../contract/errors.ts'
import type { AuthorizeAnswer, AuthorizeRequest } from '../custody/port.ts'
import type { Context } from '../http/handler.ts'
import type { Decision } from '../policy/decide.ts'
import type { Entered } from './entered.ts'
import { enteredRow } from './entered.ts'
import type { GasRefusal } from './gas.ts'
import { noCancelLeft } from './gas.ts'
import type { Asked, Judge } from './judge.ts'
import { laneFull, noGas, notFunded } from './not-funded.ts'

/** What the decision does not need and the signature does. */
export type Signing = Pick<
  AuthorizeRequest,
  'seenBlock' | 'validAfter' | 'validBefore' | 'gas' | 'relay' | 'allowanceNonce'
> & {
  fundsAtomic: bigint
  /** Made anew from fresh facts, where relayers have no gas left for it: the wallet may have. */
  again?: (latest: Entered) => Signing | GasRefusal
}

/** What carries a payment: a level, and at that of mandates which of them. */
export type Carried = Pick<AuthorizeRequest, 'consentLevel' | 'mandateId'>

/** A signature, a confirmation that is missing, or why there will be none. */
export type Authorized =
  | (AuthorizeAnswer & Carried & { outcome: 'signed' })
  | { outcome: 'confirm'; asked: Asked }
  | Refusal<
      | 'limit_exceeded'
      | 'insufficient_funds'
      | 'payment_closed'
      | 'payment_not_found'
      | 'relay_limit_reached'
      | 'unavailable'
    >

/** Each try loses only to a payment of the same account that was committed in between. */
const triesMax = 5

/** Decides, reserves and signs; a payment that is under way already is answered as it stands. */
export async function authorizePayment(
  context: Context,
  entered: Entered,
  judge: Judge,
  first: Signing,
): Promise<Authorized> {
  let latest = entered
  let signing: Signing | GasRefusal = first
  for (let tries = 0; tries < triesMax; tries += 1) {
    const decision = standing(latest) ?? (await judge.decide(latest))
    if (decision.verdict === 'refuse') return judge.refuse(latest, decision)
    if (decision.verdict === 'confirm') {
      return { outcome: 'confirm', asked: await judge.ask(latest, decision) }
    }
    const { consentLevel, mandateId } = decision
    const carried = { consentLevel, mandateId }
    const answer = await askCustody(context, latest, carried, signing)
    if (answer.outcome === 'signed') return { ...answer, ...carried }
    if (answer.outcome === 'insufficient_gas') return noGas
    if (answer.outcome === 'lane_full') return laneFull
    if (!isRaceLost(answer)) return refusalOf(answer)
    latest = (await readFacts(context, latest)) ?? latest
    if (answer.outcome === 'insufficient_funds') return notFundedNow(latest, signing)
    if (answer.outcome === 'gas_budget') signing = signing.again?.(latest) ?? noCancelLeft(latest)
    if (isRefusal(signing)) return signing
  }
  return fail('unavailable', { retryAfterSeconds: 1, log: 'authorize lost every race' })
}

/** A payment that is under way, or was settled, was decided when it was reserved. */
function standing({ payment_row: payment }: Entered): Decision | undefined {
  if (!['authorized', 'signed', 'unknown', 'settled'].includes(payment.state)) return undefined
  const { consent_level, mandate } = payment
  const mandateId = mandate === null ? {} : { mandateId: mandate }
  return { verdict: 'allow', consentLevel: consent_level ?? 'none', ...mandateId }
}

type RaceLost = Extract<AuthorizeAnswer, { outcome: (typeof lostRaces)[number] }>

/** Other payments of the account took what this one was decided from. */
const lostRaces = ['stale', 'insufficient_funds', 'gas_budget'] as const

function isRaceLost(answer: AuthorizeAnswer): answer is RaceLost {
  return lostRaces.some((outcome) => outcome === answer.outcome)
}

/** Custody may have reserved the payment before it failed, so no answer may deny that. */
async function askCustody(
  context: Context,
  entered: Entered,
  carried: Carried,
  { fundsAtomic, seenBlock, validAfter, validBefore, gas, relay, allowanceNonce }: Signing,
): Promise<AuthorizeAnswer> {
  const { custody } = context.world
  if (!custody) throw new Rejection(fail('unavailable', { log: 'CUSTODY is not bound' }))
  const { id: paymentId } = entered.payment_row
  try {
    return await custody.authorize({
      credential: context.credential,
      paymentId,
      ...carried,
      factsVersion: entered.facts.version,
      fundsAtomic: fundsAtomic.toString(),
      seenBlock,
      validAfter,
      validBefore,
      gas,
      relay,
      allowanceNonce,
    })
  } catch (error) {
    const message = `Custody did not answer. Ask transfer-status for ${paymentId} what came of it.`
    throw new Rejection(fail('unavailable', { message, log: String(error) }))
  }
}

/** Reads a payment of the caller's again, with fresh facts. */
export async function readFacts(
  context: Context,
  { payment_row: { id, kind } }: Pick<Entered, 'payment_row'>,
): Promise<Entered | undefined> {
  const device = await context.device()
  return context.db.one('payment_facts', { payment: id, kind, device }, enteredRow)
}

/** Other payments took the funds between the look at them and the commit. */
function notFundedNow({ payment_row: payment, facts }: Entered, { fundsAtomic }: Signing) {
  const free = fundsAtomic - facts.reserved_atomic
  return notFunded(assetOf(payment), payment.amount_atomic, free)
}

type Closed = Extract<AuthorizeAnswer, { outcome: 'closed' | 'expired' | 'not_found' | 'refused' }>

function refusalOf(answer: Closed) {
  switch (answer.outcome) {
    case 'closed':
      return fail('payment_closed')
    case 'expired':
      return fail('payment_closed', { message: 'The payment expired. Enter it again.' })
    case 'not_found':
      return fail('payment_not_found')
    case 'refused':
      throw new Rejection(fail<ErrorCode>(answer.code))
  }
}
