/** What the operation that uses a secret asks of the vault. */
import type { Refusal } from '../contract/errors.ts'
import type { RequestTemplate } from './template.ts'

/** One request with secrets of an entry, asked for by a caller. */
export type UseOrder = {
  /** HMAC of the caller's token. */
  credential: string
  /** The entry. */
  credentialId: string
  template: RequestTemplate
  /** The caller's claim on its Idempotency-Key. */
  claim: string | null
}

/** The answer of a site, without the secrets. */
export type Used = {
  /** All of the site's words; nothing beside it is the site's. */
  response: {
    status: number
    /** Names in lower case, without those that concern the connection alone. */
    headers: Record<string, string>
    /** Each as it came. */
    cookies: string[]
    body: string
    /** The body was cut at its limit. */
    truncated: boolean
    /** Where the site leads to; nobody went there. */
    location?: string
  }
  /** Places from which a secret was taken. */
  removed: number
  /** Why the body, and for a short secret the headers as well, are not shown. */
  withheld?: 'not_text' | 'short_secret'
}

/** Uses secrets, and tells none. */
export type UsePort = {
  use(order: UseOrder): Promise<Used | Refusal>
}
