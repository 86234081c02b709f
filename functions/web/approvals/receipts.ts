/** Consent receipts, which the owner downloads from the pages of mandates and payments. */
import { isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { type ReceiptSubject, receiptOf } from '../../../shared/payments/show/consent-receipt.ts'
import { requireOwner } from '../frame.ts'
import type { PageContext, Routes } from '../visit.ts'
import { isUuid } from './approvals-data.ts'

/** Routes that send receipts as files, which anybody can verify. */
export const routes: Routes = (app) => {
  app.get('/mandate/:id/receipt', (c) => sendReceipt(c, (id) => ({ mandate_id: id })))
  app.get('/approve/:id/receipt', (c) => sendReceipt(c, (id) => ({ payment_id: id })))
}

/** Sends a receipt. One of another account answers exactly as a missing one. */
async function sendReceipt(c: PageContext, subject: (id: string) => ReceiptSubject) {
  const { db } = await requireOwner(c)
  const asked = c.req.param('id') ?? ''
  const id = isUuid(asked) ? asked : '00000000-0000-0000-0000-000000000000'
  const receipt = await receiptOf(c.get('world'), db, subject(id))
  if (isRefusal(receipt)) throw new Rejection(receipt)
  const name = `consent-${id}.json`
  return c.json(receipt, 200, { 'content-disposition': `attachment; filename="${name}"` })
}
