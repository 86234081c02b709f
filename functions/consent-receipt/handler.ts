import type { Handler } from '../../shared/http/handler.ts'
import { receiptOf } from '../../shared/payments/consent-receipt.ts'
import type { consentReceipt } from './contract.ts'

export const run: Handler<typeof consentReceipt> = async (subject, { world, db }) => {
  const found = await receiptOf(world, db, subject)
  if ('refusal' in found) return found
  return { ...found, gap_id: 'GAP_PAYMENT_MANDATE_V1' }
}
