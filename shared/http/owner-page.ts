/** Adds to a refusal the page of the web app on which the owner does what it needs. */
import type { ErrorCode, Refusal } from '../contract/errors.ts'
import type { Config } from '../env.ts'

const pages: Partial<Record<ErrorCode, string>> = {
  account_frozen: '/freeze',
  limit_exceeded: '/limits',
  insufficient_funds: '/deposit',
  code_needs_owner: '/vault',
}

/** Returns the refusal with that page as `details.url`, if its code has one. */
export function withOwnerPage(refusal: Refusal, { WEB_URL }: Pick<Config, 'WEB_URL'>): Refusal {
  const page = pages[refusal.refusal]
  if (page === undefined) return refusal
  const login = refusal.details?.['credential_id']
  const path = typeof login === 'string' ? `${page}/${login}` : page
  return { ...refusal, details: { url: `${WEB_URL}${path}`, ...refusal.details } }
}
