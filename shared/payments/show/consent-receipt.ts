/**
 * Issues the receipt of the owner's consent to a payment or a mandate, for the agent and for the owner.
 * Checks what is stored before it states anything about it.
 */
import * as z from 'zod'
import { relyingPartyOf } from '../../consent/assertion.ts'
import { type Consent, consentRow, faultOfConsent } from '../../consent/consent.ts'
import { mandateTermsRow } from '../../consent/mandate-row.ts'
import { receiptKeys, signReceipt } from '../../consent/receipt.ts'
import { mandateTerms, paymentTerms } from '../../consent/terms.ts'
import { fail, type Refusal } from '../../contract/errors.ts'
import type { CallerDatabase } from '../../db/database.ts'
import { required } from '../../env.ts'
import type { World } from '../../world.ts'
import { paymentRow } from '../payment.ts'

/** Subject of the receipt: exactly one of the two. */
export type ReceiptSubject = { payment_id?: string | undefined; mandate_id?: string | undefined }

const foundRow = z.object({
  payment_row: paymentRow.nullable(),
  mandate_row: mandateTermsRow.nullable(),
  consent: consentRow.nullable(),
})

/** Returns the receipt with the keys to check it or, if nobody consented, the reason why there is none. */
export async function receiptOf(
  world: World,
  db: CallerDatabase,
  { payment_id: payment, mandate_id: mandate }: ReceiptSubject,
) {
  const question = { ...(payment ? { payment } : {}), ...(mandate ? { mandate } : {}) }
  const found = await db.one('find_consent', question, foundRow)
  if (!found) return fail(payment === undefined ? 'mandate_not_found' : 'payment_not_found')
  const { payment_row: row, mandate_row: granted, consent } = found
  if (!consent) return unconsented(row?.mandate ?? null)
  const terms = granted ? mandateTerms(granted) : row && paymentTerms(row)
  if (!terms) throw new Error('consent was found for nothing')
  const fault = await faultOfConsent(consent, terms, relyingPartyOf(world.config.WEB_URL))
  return fault ? untrue(fault) : receiptBody(world, terms, consent)
}

async function receiptBody(world: World, terms: object, consent: Consent) {
  const { config } = world
  const facts = { webUrl: config.WEB_URL, at: world.now(), terms, consent }
  return {
    level: consent.level,
    digest: consent.digest,
    decided_at: new Date(consent.decided_at).toISOString(),
    terms: { ...terms },
    receipt: await signReceipt(required(config, 'RECEIPT_PRIVATE_KEY'), facts),
    public_keys: await receiptKeys(config.RECEIPT_PUBLIC_KEYS),
    public_keys_url: `${config.WEB_URL}/receipt-keys.json`,
  }
}

function unconsented(mandate: string | null): Refusal<'consent_not_found'> {
  if (mandate === null) return fail('consent_not_found')
  const hint = `The payment was made under a mandate. Ask for the receipt of mandate_id ${mandate}.`
  return fail('consent_not_found', { hint, details: { mandate_id: mandate } })
}

function untrue(fault: string): Refusal<'consent_invalid'> {
  const message = 'What is stored of this consent does not hold, so there is no receipt of it.'
  return fail('consent_invalid', { message, log: fault })
}
