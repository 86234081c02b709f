/** What the operations that sign in to sites ask of the vault. */
import type { Refusal } from '../../contract/errors.ts'
import type { Used } from '../use-port.ts'

/** What became of a new password, as far as the answer of the site tells. */
export type PasswordOutcome = 'changed' | 'refused' | 'undecided'

/** Who asks: the HMAC of the caller's token, and its claim on its Idempotency-Key. */
type Asked = { credential: string; claim: string | null }

/** A sign-in to begin: the page of the entry's site on which it stands. */
export type LoginOrder = Asked & {
  credentialId: string
  path: string
  fields: Readonly<Record<string, string>>
}

/** The next page of a session: by its path, or by a form of the page that was served last. */
export type StepOrder = Asked & {
  session: string
  path?: string | undefined
  form?: number | undefined
  fields: Readonly<Record<string, string>>
  /** password, new_password, previous_password, totp or mail.HANDLE. */
  secret?: string | undefined
  /** What the site takes as a new password. */
  rules?: string | undefined
}

/** A page that the site served, without the secrets; its cookies stay with the service. */
type ServedPage = Omit<Used['response'], 'cookies'> & { url?: string }

/** What came of a step. */
export type Stepped = Omit<Used, 'response'> & {
  session: string
  /** Null when a step at the same time was kept instead. */
  expires_at: string | null
  filled: ('username' | 'password' | 'code' | 'new_password')[]
  new_password?: PasswordOutcome
  response: ServedPage
}

/** Signs in, and goes on in what was signed in to. */
export type SignInPort = {
  login(order: LoginOrder): Promise<Stepped | Refusal>
  goOn(order: StepOrder): Promise<Stepped | Refusal>
}
