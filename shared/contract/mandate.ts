/** Form of a mandate on the wire, in every answer. Amounts are US dollars. */
import * as z from 'zod'
import { mandateStatuses } from '../consent/mandate-row.ts'
import * as field from './fields.ts'
import * as form from './forms.ts'

/** Status of a mandate; expired and exhausted follow from time and use. */
export const mandateStatus = z
  .enum(mandateStatuses)
  .describe('It covers payments while it is active. Exhausted: total or count are used up.')

const capUsd = field.usd.nullable()
const unlimited = 'Null: not limited.'
const pins = (what: string) => z.array(form.word).max(100).nullable().describe(`${what} Null: any.`)

/** Fields of a mandate, with its used and remaining amounts. */
export const mandateFields = {
  mandate_id: z.uuid(),
  status: mandateStatus,
  summary: form.words(8192).describe('The terms in one sentence.'),
  merchant_domain: form.words(255).describe('The exact host in ASCII, as it is compared.'),
  merchant_name: form
    .words(255)
    .optional()
    .describe('The same as it reads, for names in other writing.'),
  include_subdomains: z.boolean().describe('Whether hosts below it are covered too.'),
  caps: z.object({
    max_amount_per_payment_usd: field.usd,
    max_amount_per_day_usd: capUsd.describe(`In any 24 hours. ${unlimited}`),
    max_total_usd: capUsd.describe(`Over its whole life. ${unlimited}`),
    max_payments: z.int().nullable().describe(unlimited),
  }),
  chains: pins('CAIP-2 ids.'),
  tokens: pins('Contract addresses.'),
  pay_to: pins('Addresses.'),
  spent: z.object({
    today_usd: field.usd.describe('In the last 24 hours, with what is reserved.'),
    total_usd: field.usd.describe('So far, with what is reserved.'),
    payments: z.int().describe('So far; one that was released or failed does not count.'),
  }),
  left: z.object({
    today_usd: capUsd.describe(unlimited),
    today_resets_at: field.time.nullable().describe('When the oldest of today leaves it.'),
    total_usd: capUsd.describe(unlimited),
    payments: z.int().nullable().describe(unlimited),
  }),
  narrowed: z.boolean().describe('Whether the owner allows less than was asked for.'),
  created_at: field.time,
  expires_at: field.time.describe('It covers nothing from then on.'),
  decided_at: field.time.nullable().describe('Null while the owner has said nothing.'),
  revoked_at: field.time.nullable().describe('Null: not revoked.'),
  approval_url: form.url.describe('The page on which the owner decides, suspends and revokes.'),
}

/** Digest of the terms that the owner approves. */
export const mandateDigest = form.sha256.describe('SHA-256 over the canonical terms, in hex.')
