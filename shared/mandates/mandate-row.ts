/**
 * Reads a mandate row as the database returns it (private.mandate_json), and converts it to the facts of
 * the policy that decides with it. Money is bigint micro-USD from here on.
 */
import * as z from 'zod'
import { mandateStatuses, mandateTermsRow, policyTerms } from '../consent/mandate-row.ts'
import { bigintText, time } from '../money/row-fields.ts'
import type { Mandate } from '../policy/mandate.ts'

/** Schema of a row of private.mandates, with its usage. */
export const mandateRow = mandateTermsRow.extend({
  /** Sort key of the list. */
  number: z.string(),
  status: z.enum(mandateStatuses),
  /** True if the owner made it for this key or app. */
  by_owner: z.boolean(),
  /** Service rendered to the owner under it. */
  purpose: z.string().nullable(),
  created_at: time,
  expires_at: time,
  /** The caps as requested, if the owner narrowed them. */
  requested: z.unknown(),
  decided_at: time.nullable(),
  revoked_at: time.nullable(),
  revoked_by: z.enum(['agent', 'owner', 'app', 'service']).nullable(),
  spent_day_usd_micros: bigintText,
  spent_total_usd_micros: bigintText,
  payments: z.int(),
  day_resets_at: time.nullable(),
})
/** A mandate row as parsed: amounts as bigint, times in UTC. */
export type MandateRow = z.output<typeof mandateRow>

/** Returns the facts that decisions are based on, except the payer. */
export function mandateFacts(row: MandateRow): Omit<Mandate, 'payer'> {
  return {
    ...policyTerms(row),
    id: row.id,
    state: row.state,
    spentDayUsdMicros: row.spent_day_usd_micros,
    spentTotalUsdMicros: row.spent_total_usd_micros,
    payments: row.payments,
    dayResetsAt: row.day_resets_at === null ? null : new Date(row.day_resets_at),
  }
}
