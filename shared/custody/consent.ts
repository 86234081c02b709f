/**
 * Decides whether custody may rely on the consent that the ledger names for a payment. The terms are made
 * from the very row that is signed next: a changed row has another digest, and a signature over other terms
 * is worth nothing. Custody believes what only the ledger can know: which passkeys an owner has, what was
 * spent, and that a payment of a lower level is within its limits.
 */
import { assetOf } from '../chains/registry.ts'
import { relyingPartyOf } from '../consent/assertion.ts'
import { type ConsentFault, faultOfConsent } from '../consent/consent.ts'
import { policyTerms } from '../consent/mandate-row.ts'
import { mandateTerms, paymentTerms } from '../consent/terms.ts'
import { usdMicrosOf } from '../money/usd.ts'
import { type MandateReasonCode, payableHostOf, termsReasons } from '../policy/mandate.ts'
import type { World } from '../world.ts'
import type { AuthorizedRow } from './ledger.ts'

type Fault =
  | ConsentFault
  | MandateReasonCode
  | 'consent_missing'
  | 'consent_level'
  | 'mandate_ended'

/** Returns why the payment must not be signed; undefined if nothing prevents it. */
export async function faultOf(world: World, row: AuthorizedRow): Promise<Fault | undefined> {
  const { payment_row: payment, consent } = row
  const level = payment.consent_level
  if (level === 'none' || level === 'agent_asserted') return undefined
  if (!consent) return 'consent_missing'
  if (level === 'mandate') return faultUnderMandate(world, row, consent)
  if (consent.level !== level) return 'consent_level'
  if (!isForPayer(payment, payment)) return 'other_key'
  return faultOfConsent(consent, paymentTerms(payment), relyingPartyOf(world.config.WEB_URL))
}

async function faultUnderMandate(
  world: World,
  { payment_row: payment, mandate_row: mandate }: AuthorizedRow,
  consent: NonNullable<AuthorizedRow['consent']>,
): Promise<Fault | undefined> {
  if (!mandate || mandate.id !== payment.mandate) return 'consent_missing'
  if (mandate.account !== payment.account) return 'consent_missing'
  if (!isForPayer(mandate, payment)) return 'other_key'
  // It was active when the payment was reserved, but a lost signature may be asked for later.
  if (mandate.state !== 'active') return 'mandate_ended'
  // A batch lists payments: whoever signed its root was shown no mandate.
  if (consent.leaves) return 'batch'
  const fault = await faultOfConsent(
    consent,
    mandateTerms(mandate),
    relyingPartyOf(world.config.WEB_URL),
  )
  if (fault) return fault
  const [reason] = termsReasons(policyTerms(mandate), consentRequest(world, payment), world.now())
  return reason?.code
}

/** True if the consent is for the key or app that pays, or the owner gave it for any. */
function isForPayer(
  { asked_by: asker, for_any_key: isForAny }: { asked_by: string; for_any_key: boolean },
  { paid_by: payer }: AuthorizedRow['payment_row'],
): boolean {
  return isForAny || asker === payer
}

function consentRequest({ config }: World, payment: AuthorizedRow['payment_row']) {
  const { kind, chain, token, payee: payTo, amount_atomic: amountAtomic } = payment
  // The euro has no rate here, so the ledger's USD value is believed.
  const ownValue = usdMicrosOf(assetOf(payment).token, amountAtomic, config)
  const amountUsdMicros = ownValue ?? payment.amount_usd_micros
  const host = payableHostOf(payment.terms['origin'])
  return { kind, chain, token, payTo, amountUsdMicros, host }
}
