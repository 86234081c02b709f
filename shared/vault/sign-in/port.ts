/** The vault's interface for the operations that sign in to sites. */
import type { Refusal } from '../../contract/errors.ts'
import type { SiteAnswer } from '../use-port.ts'

/** Caller: the HMAC of its token, and its claim on its Idempotency-Key. */
type IdempotentCaller = { credential: string; claim: string | null }

/** Request to begin a sign-in at a page of the entry's site. */
export type LoginOrder = IdempotentCaller & {
  credentialId: string
  path: string
  fields: Readonly<Record<string, string>>
}

/** Request for the next page of a session: by its path, or by a form of the last served page. */
export type StepOrder = IdempotentCaller & {
  session: string
  path?: string | undefined
  form?: number | undefined
  fields: Readonly<Record<string, string>>
  /** Name of a secret: password, totp or mail.HANDLE. */
  secret?: string | undefined
}

/** A page that the site served, without secrets; its cookies stay with the service. */
type ServedPage = Omit<SiteAnswer['response'], 'cookies'> & { url?: string }

/** Result of a step. */
export type StepAnswer = Omit<SiteAnswer, 'response'> & {
  session: string
  /** Null if a concurrent step was stored instead. */
  expires_at: string | null
  filled: ('username' | 'password' | 'code')[]
  /** Secrets that the page asks for, if it is not shown. */
  asks?: ('password' | 'code')[]
  response: ServedPage
}

/** Operations of the vault that sign in and continue in a session. */
export type SignInPort = {
  login(order: LoginOrder): Promise<StepAnswer | Refusal>
  goOn(order: StepOrder): Promise<StepAnswer | Refusal>
}

/** Request of an owner to look at a page of the entry's site. */
export type LookOrder = { credential: string; entry: string; path: string }

/** Operation of the vault that finds the fields of a page and asks the owner to approve them. */
export type LookPort = {
  /** Returns the number of forms and fields that wait for approval now. */
  lookAt(order: LookOrder): Promise<{ found: number } | Refusal>
}
