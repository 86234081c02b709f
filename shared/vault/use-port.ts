/** The vault's interface for the operation that uses a secret. */
import type { Refusal } from '../contract/errors.ts'
import type { RequestTemplate } from './inject.ts'

/** One request of a caller with secrets of an entry. */
export type UseOrder = {
  /** HMAC of the caller's token. */
  credential: string
  /** Id of the entry. */
  credentialId: string
  template: RequestTemplate
  /** The caller's claim on its Idempotency-Key. */
  claim: string | null
}

/** The answer of a site, without the secrets. */
export type SiteAnswer = {
  /** Everything that the site says; no other member holds the site's words. */
  response: {
    status: number
    /** Headers with names in lower case, without connection headers. */
    headers: Record<string, string>
    /** Values of Set-Cookie, each as it came. */
    cookies: string[]
    body: string
    /** True if the body was cut at its limit. */
    truncated: boolean
    /** Target of the site's redirect, which was not followed. */
    location?: string
  }
  /** Number of places from which a secret was removed. */
  removed: number
  /** Reason why the body and, except for what is not text, most headers are not shown. */
  withheld?: 'password_sent' | 'short_secret' | 'not_text'
}

/** Operation of the vault that uses secrets and reveals none. */
export type UsePort = {
  use(order: UseOrder): Promise<SiteAnswer | Refusal>
}
