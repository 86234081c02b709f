/** A mandate in the form in which operations return it (shared/contract/mandate.ts). */
import type { Config } from '../env.ts'
import { formatUsd } from '../money/amount.ts'
import { leftOf } from '../policy/mandate.ts'
import type { MandateRow } from './mandate-row.ts'
import { mandateFacts } from './mandate-row.ts'
import { readableName } from './readable-name.ts'
import { mandateSummary } from './words.ts'

/** Returns the mandate in the form of the API. */
export function mandateBody(row: MandateRow, config: Pick<Config, 'WEB_URL'>) {
  const name = readableName(row.merchant_domain)
  return {
    mandate_id: row.id,
    status: row.status,
    summary: mandateSummary(mandateFacts(row)),
    merchant_domain: row.merchant_domain,
    ...(name === undefined || name === row.merchant_domain ? {} : { merchant_name: name }),
    include_subdomains: row.include_subdomains,
    caps: {
      max_amount_per_payment_usd: formatUsd(row.max_payment_usd_micros),
      max_amount_per_day_usd: usd(row.max_day_usd_micros),
      max_total_usd: usd(row.max_total_usd_micros),
      max_payments: row.max_payments,
    },
    chains: row.chains?.map((id) => `eip155:${id}`) ?? null,
    tokens: row.tokens,
    pay_to: row.pay_to,
    ...usageBody(row),
    narrowed: row.requested !== null,
    created_at: row.created_at,
    expires_at: row.expires_at,
    decided_at: row.decided_at,
    revoked_at: row.revoked_at,
    approval_url: mandateUrl(config, row.id),
  }
}

/** Returns the URL of a mandate's page, which only its owner may see. */
export function mandateUrl({ WEB_URL }: Pick<Config, 'WEB_URL'>, id: string): string {
  return `${WEB_URL}/mandate/${id}`
}

function usageBody(row: MandateRow) {
  const { day, total } = leftOf(mandateFacts(row))
  const { max_payments: count } = row
  return {
    spent: {
      today_usd: formatUsd(row.spent_day_usd_micros),
      total_usd: formatUsd(row.spent_total_usd_micros),
      payments: row.payments,
    },
    left: {
      today_usd: usd(day),
      today_resets_at: row.day_resets_at,
      total_usd: usd(total),
      payments: count === null ? null : count - row.payments,
    },
  }
}

function usd(usdMicros: bigint | null): string | null {
  return usdMicros === null ? null : formatUsd(usdMicros)
}
