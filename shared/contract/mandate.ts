/** The form of a mandate on the wire, wherever one is answered. Amounts are US dollars. */
import * as z from 'zod'
import { mandateStatuses } from '../consent/mandate-row.ts'
import * as field from './fields.ts'

/** Where a mandate stands; expired and exhausted follow from time and use. */
export const mandateStatus = z.enum(mandateStatuses)

const capUsd = field.usd.nullable().describe('US dollars, decimal string. Null: not limited.')
const pins = (what: string) => z.array(z.string()).nullable().describe(`${what} Null: any.`)

/** A mandate with what is used and left of it. */
export const mandateFields = {
  mandate_id: z.uuid(),
  status: mandateStatus,
  summary: z.string().describe('The terms in one sentence.'),
  merchant_domain: z.string().describe('The exact host in ASCII, as it is compared.'),
  merchant_name: z
    .string()
    .optional()
    .describe('The same as it reads, for names in other writing.'),
  include_subdomains: z.boolean(),
  caps: z.object({
    max_amount_per_payment_usd: field.usd,
    max_amount_per_day_usd: capUsd,
    max_total_usd: capUsd,
    max_payments: z.int().nullable().describe('Null: not limited.'),
  }),
  chains: pins('CAIP-2 ids.'),
  tokens: pins('Contract addresses.'),
  pay_to: pins('Addresses.'),
  spent: z.object({
    today_usd: field.usd.describe('In the last 24 hours, with what is reserved.'),
    total_usd: field.usd,
    payments: z.int(),
  }),
  left: z.object({
    today_usd: capUsd,
    today_resets_at: field.time.nullable().describe('When the oldest of today leaves it.'),
    total_usd: capUsd,
    payments: z.int().nullable().describe('Null: not limited.'),
  }),
  narrowed: z.boolean().describe('Whether the owner allows less than was asked for.'),
  created_at: field.time,
  expires_at: field.time,
  decided_at: field.time.nullable(),
  revoked_at: field.time.nullable(),
  approval_url: z.url().describe('The page on which the owner decides, suspends and revokes.'),
}

/** What the owner approves. */
export const mandateDigest = z.string().describe('SHA-256 over the canonical terms.')
