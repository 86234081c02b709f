import type { Handler } from '../../shared/http/handler.ts'
import { receiptOf } from '../../shared/payments/show/consent-receipt.ts'
import type { consentReceipt } from './contract.ts'

export const run: Handler<typeof consentReceipt> = (subject, { world, db }) =>
  receiptOf(world, db, subject)
