/**
 * The one table of refusals: code, HTTP status, sentence. An operation lists its own codes; the pipeline
 * adds those that any operation can meet. The sentence is safe for every caller and says what to do next.
 * Details that only the operator may know go into `log`.
 */
export const errorTable = {
  unauthorized: [
    401,
    'The bearer token is missing or not valid. Send Authorization: Bearer <API_KEY>.',
  ],
  insufficient_scope: [403, 'This key or token does not carry the scope that the operation needs.'],
  proof_required: [403, 'Sign in again with your passkey or password.'],
  passkey_required: [403, 'This account approves with its passkey only.'],
  account_on_hold: [
    403,
    'The account is on hold: until it ends nothing can be widened, shown or ended. Freezing works.',
  ],
  foreign_form: [403, 'This page is out of date. Open it again and send it from there.'],
  account_frozen: [403, 'The account is frozen. Only its owner can unfreeze it, at details.url.'],
  limit_exceeded: [403, 'The payment is over a limit that the owner has set.'],
  invalid_request: [400, 'The request does not have the described shape.'],
  not_found: [404, 'There is nothing at this path.'],
  method_not_allowed: [405, 'The path takes another method.'],
  conflict: [409, 'Another request changes the same thing. Try again soon.'],
  terms_changed: [409, 'The terms have changed. Prepare the payment again.'],
  relay_limit_reached: [429, 'Relayers have no gas left for this account on this chain now.'],
  insufficient_funds: [409, 'The wallet does not hold enough of the token on this chain.'],
  payload_too_large: [413, 'The request body is too large.'],
  unsupported_media_type: [415, 'Send the body as application/json.'],
  idempotency_mismatch: [422, 'This Idempotency-Key was used with another body.'],
  unsupported_scheme: [422, 'None of the offered ways to pay is one that the service can use.'],
  unsupported_chain: [422, 'The chain is not one that this service is connected to.'],
  unsupported_token: [422, 'The token is not one that the service pays with on this chain.'],
  amount_too_small: [422, 'The amount is less than relayers carry.'],
  recipient_not_found: [404, 'No account has this alias or mail address.'],
  recipient_refused: [422, 'Money sent to this recipient would be lost.'],
  action_not_found: [404, 'The account has no such hosted action.'],
  link_not_found: [404, 'There is no such link. Ask your agent for a new one.'],
  return_url_refused: [422, 'The origin of return_url is not allowed here.'],
  too_many_links: [429, 'Too many links of this account wait to be opened. Use one of them.'],
  too_many_mandates: [409, 'Too many mandates wait for the owner. Have some decided first.'],
  too_many_payments: [429, 'Too many payments wait. Pay some, have some declined, or wait a day.'],
  merchant_refused: [422, 'No mandate can be made for this merchant as it is named.'],
  too_many_apps: [409, 'The account has 20 connected apps, the most. Disconnect one first.'],
  mandate_not_found: [404, 'The account has no such mandate.'],
  payment_not_found: [404, 'The account has no such payment.'],
  payment_closed: [409, 'The payment is over.'],
  consent_not_found: [404, 'The owner approved no such thing, so there is no receipt.'],
  consent_invalid: [
    409,
    'The owner approved something else. Nothing was signed: enter the payment again.',
  ],
  credential_not_found: [404, 'The account has no such entry in its vault.'],
  credential_protected: [403, 'Only the key or the owner who made this entry may change it.'],
  credential_refused: [422, 'The entry cannot be kept as it is given.'],
  vault_full: [409, 'The vault holds as many entries as it may. Delete some first.'],
  site_refused: [422, 'The site is not one that secrets are sent to.'],
  template_refused: [422, 'The request cannot be made as its template describes it.'],
  destination_not_approved: [403, 'The owner has not approved this destination of the secret.'],
  session_not_found: [
    404,
    'This key has no such session, or it has ended. Begin another with vault_login.',
  ],
  form_refused: [422, 'The form cannot be filled in and sent as it is asked.'],
  code_not_found: [404, 'The code is unknown, used or older than 15 minutes. Ask for a new one.'],
  code_not_for_site: [
    403,
    'A code is used only at a host that its mail is proven to be from or links to; see mail_list.',
  ],
  code_needs_owner: [
    403,
    'This login may not use codes of mails. The owner allows it at details.url.',
  ],
  site_unavailable: [502, 'The site sent no valid HTTP response.'],
  mail_not_found: [404, 'The account has no such mail.'],
  mail_refused: [422, 'The mail cannot be sent as it is given.'],
  mail_limit_reached: [429, 'The account may send no more mails today.'],
  resource_refused: [422, 'The resource address is not one that the service fetches.'],
  resource_unavailable: [502, 'The resource sent no valid HTTP response.'],
  no_payment_required: [409, 'The resource did not ask for a payment.'],
  invalid_challenge: [422, 'The payment challenge cannot be read.'],
  code_not_accepted: [
    422,
    'The code is wrong or has expired. Use the newest mail, or ask for a new code.',
  ],
  browser_only: [403, 'Only a person does this, in a browser. Give registration_url to your user.'],
  registration_closed: [
    410,
    'The link was used or is older than 30 minutes. Begin again with a new code.',
  ],
  alias_unavailable: [409, 'This alias is not available. check_alias tells why.'],
  webhook_refused: [422, 'Events cannot be sent to this address.'],
  webhook_not_found: [404, 'The account has no such webhook.'],
  too_many_webhooks: [409, 'The account has five webhooks, the most. Delete one first.'],
  weak_password: [422, 'The password is too easy to guess. Choose another one.'],
  account_exists: [409, 'This mail address already has an account. Sign in.'],
  challenge_failed: [
    422,
    'The check that you are not a program was not passed. Do it again and send the form once more.',
  ],
  rate_limited: [429, 'Too many requests. Try again later.'],
  internal_error: [500, 'Something failed on our side. The request id identifies it.'],
  unavailable: [503, 'A part that this needs does not answer right now. Nothing was changed.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>

/** A code of the table: the value of `error` on the wire. */
export type ErrorCode = keyof typeof errorTable

/** Optional parts of a refusal beside its code. */
export type RefusalDetail = {
  /** Replaces the table's sentence; must be safe for the caller. */
  message?: string
  /** Next step for the agent. */
  hint?: string
  retryAfterSeconds?: number
  details?: Record<string, unknown>
  /** Text for the operator's log; never sent. */
  log?: string
}

/** An expected refusal: a code and details that help to go on. */
export type Refusal<Code extends ErrorCode = ErrorCode> = { readonly refusal: Code } & RefusalDetail

/** Builds a refusal as a value. */
export function fail<const Code extends ErrorCode>(
  code: Code,
  detail: RefusalDetail = {},
): Refusal<Code> {
  return { refusal: code, ...detail }
}

/** True if a value is a refusal; no answer of an operation has a field `refusal`. */
export function isRefusal<T>(value: T | Refusal): value is Extract<T | Refusal, Refusal> {
  return typeof value === 'object' && value !== null && 'refusal' in value
}

/** True if text that SQL raised is a code of the table. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorTable, text)
}

/**
 * A refusal that is thrown across the database client: SQL ended the call with a code of the table. The
 * pipeline answers it like a refusal that a handler returned.
 */
export class Rejection extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.refusal)
    this.refusal = refusal
  }
}
