/**
 * Takes an entered payment to a signature or a refusal. Decides from facts, has custody commit the
 * decision, and decides again if the facts changed in between.
 */
import type { Preflight } from '../../chains/evm/preflight.ts'
import { assetOf, type Chain } from '../../chains/registry.ts'
import { type ErrorCode, fail, isRefusal, type Refusal, Rejection } from '../../contract/errors.ts'
import { callUnits, formOf } from '../../custody/payment-form.ts'
import type { AuthorizeAnswer, AuthorizeRequest, GasPayerSeen } from '../../custody/port.ts'
import type { Context } from '../../http/handler.ts'
import { formatUsd } from '../../money/amount.ts'
import type { Decision } from '../../policy/decide.ts'
import type { ConfirmationRequest, DecisionMaker } from '../decide/judge.ts'
import { gasPayerFull, noGas, notFunded } from '../decide/not-payable.ts'
import { isReserved } from '../payment.ts'
import { type PaymentWithFacts, paymentWithFactsRow } from '../payment-with-facts.ts'

/** Values that the signature needs and the decision does not. */
export type SigningInputs = Pick<
  AuthorizeRequest,
  'seenBlock' | 'validAfter' | 'validBefore' | 'relay' | 'allowanceNonce'
> & {
  fundsAtomic: bigint
  /** Prepares it again from fresh facts if relayers carry no more: the wallet may have gas. */
  again?: (latest: PaymentWithFacts) => SigningInputs | GasRefusal
}

/** Parts of a request that send a payment. */
export type Sender = Pick<Context, 'world' | 'db' | 'credential' | 'device' | 'later'>

/** Consent level that carries a payment, with the mandate at the mandate level. */
export type ConsentBasis = Pick<AuthorizeRequest, 'consentLevel' | 'mandateId'>

/** Signature, missing confirmation, or refusal. */
export type SigningResult =
  | (AuthorizeAnswer & ConsentBasis & { outcome: 'signed' })
  | { outcome: 'confirm'; asked: ConfirmationRequest }
  | Refusal<
      | 'limit_exceeded'
      | 'insufficient_funds'
      | 'payment_closed'
      | 'payment_not_found'
      | 'relay_limit_reached'
      | 'unavailable'
    >

/** Number of tries. Each is lost only to a payment of the same account that was committed in between. */
const triesMax = 10

/** Decides, reserves and signs. Answers a payment that is already under way as it stands. */
export async function authorizePayment(
  sender: Sender,
  entered: PaymentWithFacts,
  decisionMaker: DecisionMaker,
  first: SigningInputs,
): Promise<SigningResult> {
  let latest = entered
  let signing: SigningInputs | GasRefusal = first
  for (let tries = 0; tries < triesMax; tries += 1) {
    const decision = earlierDecisionOf(latest) ?? (await decisionMaker.decide(latest))
    if (decision.verdict === 'refuse') return decisionMaker.refuse(latest, decision)
    if (decision.verdict === 'confirm') {
      return { outcome: 'confirm', asked: await decisionMaker.ask(latest, decision) }
    }
    const { consentLevel, mandateId } = decision
    const consentBasis = { consentLevel, mandateId }
    const answer = await askCustody(sender, latest, consentBasis, signing)
    if (answer.outcome === 'signed') return { ...answer, ...consentBasis }
    if (answer.outcome === 'insufficient_gas') return noGas
    if (answer.outcome === 'gas_payer_full') return gasPayerFull
    if (!isRaceLost(answer)) return refusalOfClosed(answer, entered.payment_row.id)
    latest = (await readFacts(sender, latest)) ?? latest
    if (answer.outcome === 'insufficient_funds') return notFundedNow(latest, signing)
    if (answer.outcome === 'gas_budget') signing = signing.again?.(latest) ?? signing
    if (isRefusal(signing)) return signing
  }
  return fail('unavailable', { retryAfterSeconds: 1, log: 'authorize lost every race' })
}

/** Returns the decision of a payment that is under way or settled, taken when it was reserved. */
function earlierDecisionOf({ payment_row: payment }: PaymentWithFacts): Decision | undefined {
  if (!isReserved(payment.state)) return undefined
  const { consent_level, mandate } = payment
  const mandateId = mandate === null ? {} : { mandateId: mandate }
  return { verdict: 'allow', consentLevel: consent_level ?? 'none', ...mandateId }
}

type RaceLost = Extract<AuthorizeAnswer, { outcome: (typeof lostRaces)[number] }>

/** Outcomes that mean that other payments of the account changed the facts. */
const lostRaces = ['stale', 'insufficient_funds', 'gas_budget'] as const

function isRaceLost(answer: AuthorizeAnswer): answer is RaceLost {
  return lostRaces.some((outcome) => outcome === answer.outcome)
}

/** Asks custody, which may have reserved the payment before it failed, so no answer may deny that. */
async function askCustody(
  sender: Sender,
  entered: PaymentWithFacts,
  consentBasis: ConsentBasis,
  { fundsAtomic, seenBlock, validAfter, validBefore, relay, allowanceNonce }: SigningInputs,
): Promise<AuthorizeAnswer> {
  const { custody } = sender.world
  if (!custody) throw new Rejection(fail('unavailable', { log: 'CUSTODY is not bound' }))
  const { id: paymentId } = entered.payment_row
  try {
    return await custody.authorize({
      credential: sender.credential,
      paymentId,
      ...consentBasis,
      factsVersion: entered.facts.version,
      fundsAtomic: fundsAtomic.toString(),
      seenBlock,
      validAfter,
      validBefore,
      relay,
      allowanceNonce,
      isRepeat: entered.facts.is_paid_already,
    })
  } catch (error) {
    throw custodySilent(paymentId, String(error))
  }
}

function rejectionOf(code: ErrorCode, paymentId: string): Rejection {
  return code === 'unavailable'
    ? custodySilent(paymentId, code)
    : new Rejection(fail<ErrorCode>(code))
}

/** Returns the refusal after custody, or its database, did not answer and may have reserved the payment. */
function custodySilent(paymentId: string, log: string): Rejection {
  const message = `Custody did not answer. Ask transfer-status for ${paymentId} what came of it.`
  return new Rejection(fail('unavailable', { message, log, retryAfterSeconds: 5 }))
}

/**
 * Has a purchase signed that its agent was asked about; undefined if something else is missing, another request has
 * it, or custody does not answer.
 */
export async function authorizeConfirmed(sender: Sender, paymentId: string) {
  const request = { credential: sender.credential, paymentId, device: await sender.device() }
  const { world } = sender
  const answer = await Promise.resolve(world.custody?.confirm(request)).catch((error: unknown) => {
    world.log({ attempt: paymentId, log: `custody did not answer: ${String(error)}` })
  })
  if (!answer) return undefined
  if (answer.outcome === 'refused') throw rejectionOf(answer.code, paymentId)
  return answer.outcome === 'signed' && answer.first ? answer : undefined
}

/** Reads a payment of the caller again, with fresh facts. */
async function readFacts(
  sender: Sender,
  { payment_row: { id, kind } }: Pick<PaymentWithFacts, 'payment_row'>,
): Promise<PaymentWithFacts | undefined> {
  const device = await sender.device()
  return sender.db.one('payment_facts', { payment: id, kind, device }, paymentWithFactsRow)
}

/** Returns the refusal after other payments took the funds between the look at them and the commit. */
function notFundedNow(
  { payment_row: payment, facts }: PaymentWithFacts,
  { fundsAtomic }: SigningInputs,
) {
  const free = fundsAtomic - facts.reserved_atomic
  return notFunded(assetOf(payment), payment.amount_atomic, free)
}

type Closed = Extract<AuthorizeAnswer, { outcome: 'closed' | 'expired' | 'not_found' | 'refused' }>

function refusalOfClosed(answer: Closed, paymentId: string) {
  switch (answer.outcome) {
    case 'closed':
      return fail('payment_closed')
    case 'expired':
      return fail('payment_closed', { message: 'The payment expired. Enter it again.' })
    case 'not_found':
      return fail('payment_not_found')
    case 'refused':
      throw rejectionOf(answer.code, paymentId)
  }
}

/** Values from the chain about who could pay. */
export type GasSeen = Pick<Preflight, 'walletWei' | 'relayedCostWei'> & {
  gasPayers: readonly GasPayerSeen[]
}

/** Refusal because nobody pays for the gas of a payment. */
export type GasRefusal = Refusal<'relay_limit_reached' | 'unavailable'>

const daySeconds = 86_400

/** Decides who pays, or returns a refusal that says what to do. */
export function chooseGasPayer(
  entered: PaymentWithFacts,
  seen: GasSeen,
): 'relayer' | 'wallet' | GasRefusal {
  const { payment_row: payment, facts } = entered
  const { left_calls: left, least_usd_micros: leastUsdMicros } = facts.gas
  const units = callUnits(formOf(payment.terms).kind === 'order')
  const isCarried = payment.amount_usd_micros >= leastUsdMicros && left >= units
  if (isCarried && seen.gasPayers.length > 0) return 'relayer'
  if (seen.walletWei >= BigInt(units) * seen.relayedCostWei) return 'wallet'
  return isCarried ? noGas : overBudget(entered, assetOf(payment).chain)
}

/** Returns the refusal of a transfer below the relayers' minimum whose wallet has no gas of its own. */
export function tooSmall(
  { payment_row: payment, facts }: PaymentWithFacts,
  { walletWei, relayedCostWei }: Pick<GasSeen, 'walletWei' | 'relayedCostWei'>,
): Refusal<'amount_too_small'> | undefined {
  const leastUsdMicros = facts.gas.least_usd_micros
  if (payment.amount_usd_micros >= leastUsdMicros || walletWei >= relayedCostWei) return undefined
  const { native, title } = assetOf(payment).chain
  const least = formatUsd(leastUsdMicros)
  return fail('amount_too_small', {
    message: `Relayers on ${title} carry transfers that are worth at least ${least} USD.`,
    hint: `Send at least ${least} USD, or fund the wallet with ${native.symbol} for gas of its own.`,
    details: { least_usd: least },
  })
}

/** Returns the refusal of a transfer that relayers carry no more today. */
function overBudget({ facts }: PaymentWithFacts, { native, title, caip2 }: Chain): GasRefusal {
  const { resets_at: resetsAt, left_calls } = facts.gas
  const when = resetsAt === null ? '' : `Wait until ${resetsAt}, when more is free, or `
  const hint = `${when}fund the wallet with ${native.symbol} for gas of its own.`
  return fail('relay_limit_reached', {
    message: `Relayers on ${title} carry no more transfers for this account today.`,
    hint: hint.charAt(0).toUpperCase() + hint.slice(1),
    details: { chain: caip2, left_calls, resets_at: resetsAt },
    ...retryAt(resetsAt, facts.now),
  })
}

function retryAt(resetsAt: string | null, now: number) {
  if (resetsAt === null) return {}
  // `now` is rounded down to seconds, and nothing counts for longer than a day.
  const seconds = Math.ceil(Date.parse(resetsAt) / 1000) - now
  return { retryAfterSeconds: Math.min(Math.max(1, seconds), daySeconds) }
}
