import { isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import type { ReceiptSubject } from '../../../shared/payments/consent-receipt.ts'
import { receiptOf } from '../../../shared/payments/consent-receipt.ts'
import { isUuid } from '../data/approvals.ts'
import { owner } from '../frame.ts'
import type { Routes, Visit } from '../visit.ts'

/** Receipts of what the owner approved, as files that anybody can check. */
export const routes: Routes = (app) => {
  app.get('/mandate/:id/receipt', (c) => sendReceipt(c, (id) => ({ mandate_id: id })))
  app.get('/approve/:id/receipt', (c) => sendReceipt(c, (id) => ({ payment_id: id })))
}

/** A stranger's answers as one that is missing. */
async function sendReceipt(c: Visit, subject: (id: string) => ReceiptSubject) {
  const { db } = await owner(c)
  const asked = c.req.param('id') ?? ''
  const id = isUuid(asked) ? asked : '00000000-0000-0000-0000-000000000000'
  const receipt = await receiptOf(c.get('world'), db, subject(id))
  if (isRefusal(receipt)) throw new Rejection(receipt)
  const name = `consent-${id}.json`
  return c.json(receipt, 200, { 'content-disposition': `attachment; filename="${name}"` })
}
