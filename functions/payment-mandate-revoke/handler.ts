import * as z from 'zod'
import { fail } from '../../shared/contract/errors.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { mandateRow } from '../../shared/mandates/mandate-row.ts'
import type { paymentMandateRevoke } from './contract.ts'

const revokedRow = z.object({ mandate_row: mandateRow })

/** Revokes a mandate; one that the owner had declined keeps that state. */
export const run: Handler<typeof paymentMandateRevoke> = async ({ mandate_id }, { db }) => {
  const revoked = await db.one('revoke_mandate', { mandate: mandate_id }, revokedRow)
  if (!revoked) return fail('mandate_not_found')
  const { state, revoked_at } = revoked.mandate_row
  const status = state === 'declined' ? state : 'revoked'
  return { mandate_id, status, revoked_at }
}
