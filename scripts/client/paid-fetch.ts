/**
 * A fetch that pays: it sends a request as any other, and where the answer is 402 Payment Required it has the account
 * pay once, within a maximum, and returns what was bought. Limits are those of the account, kept by the service.
 */
import { AccountError } from './account-error.ts'
import type {
  AccountClient,
  X402PaymentExecuteAnswer,
  X402PaymentPrepareAnswer,
  X402PaymentPrepareRequest,
} from './operations.ts'
import type { Fetch } from './options.ts'

/** Payment that the user or the owner has to confirm. */
export type Asked = {
  /** Sentence for the user, such as "Pay 0.10 USDC to shop.example". */
  summary: string
  amountUsd: string
  /** Page on which the owner decides; absent where the user's word is enough. */
  url: string | undefined
  terms: X402PaymentPrepareAnswer
}

/** Options of a paid request beside those of fetch. */
export type PaidInit = RequestInit & {
  /** Most USD that this request may cost, a decimal string such as "0.25". Nothing is paid if absent. */
  maxUsd?: string | undefined
  /**
   * Asks the user, where the account does not let the payment pass by itself. Returns true once the user has
   * confirmed it, or the owner has approved it at `url`. Without it such a payment is refused.
   */
  confirm?: ((asked: Asked) => boolean | Promise<boolean>) | undefined
  /** Purpose, shown to the owner. */
  memo?: string | undefined
  /** True to learn the terms and pay nothing: a resource that costs something then throws `dry_run`. */
  isDryRun?: boolean | undefined
}

/** Reason for which nothing was bought. */
export type PaymentProblem =
  | 'dry_run'
  | 'over_max'
  | 'not_confirmed'
  | 'not_paid'
  | 'not_delivered'
  | 'outcome_unknown'

/** Error of a paid request; `attemptId` continues it with x402_payment_execute. */
export class PaymentError extends Error {
  override readonly name = 'PaymentError'
  readonly problem: PaymentProblem
  readonly terms: X402PaymentPrepareAnswer
  readonly answer: X402PaymentExecuteAnswer | undefined
  readonly attemptId: string

  constructor(
    problem: PaymentProblem,
    message: string,
    terms: X402PaymentPrepareAnswer,
    answer?: X402PaymentExecuteAnswer,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.problem = problem
    this.terms = terms
    this.answer = answer
    this.attemptId = terms.attempt_id
  }
}

/** Makes the fetch of an account. A body has to be text or form fields, because it is sent
 * twice. A redirect is followed to what costs something for GET alone. */
export function paidFetch(account: AccountClient, send: Fetch) {
  return async (input: string | URL, init: PaidInit = {}): Promise<Response> => {
    const { maxUsd, confirm, memo, isDryRun, ...plain } = init
    const url = new URL(input)
    const request = new Request(url, plain)
    const bytes = plain.body == null ? undefined : await request.clone().arrayBuffer()
    const answer = await send(url.href, plain)
    if (answer.status !== 402 || (maxUsd === undefined && !isDryRun)) return answer
    // A redirect may have changed the method.
    if (answer.redirected && request.method !== 'GET') return answer
    const asked = answer.redirected ? new URL(answer.url) : url
    if (asked.origin !== url.origin) for (const name of secretHeaders) request.headers.delete(name)
    const body = bytes && bodyText(bytes)
    const calling = plain.signal ? { signal: plain.signal } : {}
    const terms = await account.x402PaymentPrepare(
      { ...described(asked, request, body), ...(await challengeOf(answer)), memo },
      calling,
    )
    if (isDryRun) throw new PaymentError('dry_run', terms.summary, terms)
    const isConfirmed = await confirmed(terms, maxUsd ?? '0', confirm)
    const order = { attempt_id: terms.attempt_id, ...(isConfirmed && { user_confirmed: true }) }
    const paid = await account.x402PaymentExecute(order, calling).catch((error: unknown) => {
      throw lostIn(error, terms)
    })
    const response = bought(account, terms, paid)
    attempts.set(response, terms.attempt_id)
    return response
  }
}

/** Headers that fetch does not send on to another origin. */
const secretHeaders = ['authorization', 'proxy-authorization', 'cookie']

const attempts = new WeakMap<Response, string>()

/** Returns the attempt by which an answer was paid for; undefined for one that cost nothing. */
export function attemptOf(answer: Response): string | undefined {
  return attempts.get(answer)
}

/** Reads a body with every byte of it, because what was asked for is what is paid for. */
function bodyText(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new TypeError('The body of a paid request has to be text in UTF-8.', { cause })
  }
}

/** Names the attempt of a payment whose answer was lost; a refusal stays as it is. */
function lostIn(error: unknown, terms: X402PaymentPrepareAnswer): unknown {
  const isRefused = error instanceof AccountError && error.status > 0 && error.status < 500
  if (isRefused) return error
  const message = `Whether it was paid is not known. Execute the attempt ${terms.attempt_id} again: it pays once.`
  return new PaymentError('outcome_unknown', message, terms, undefined, error)
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

function described(
  url: URL,
  { method, headers }: Request,
  body: string | undefined,
): X402PaymentPrepareRequest {
  const known = methods.find((one) => one === method)
  if (!known) throw new TypeError(`A paid request cannot be ${method}.`)
  return {
    resource_url: url.href,
    method: known,
    headers: Object.fromEntries(headers),
    ...(body !== undefined && { body }),
  }
}

/** Returns the challenge of the merchant, so that exactly what was answered is paid. */
async function challengeOf(answer: Response): Promise<Partial<X402PaymentPrepareRequest>> {
  const required = answer.headers.get('payment-required')
  if (required !== null) return { payment_required: required }
  const authenticate = answer.headers.get('www-authenticate')
  if (authenticate !== null) return { www_authenticate: authenticate }
  const body: unknown = await answer.json().catch(() => undefined)
  const isOffer = typeof body === 'object' && body !== null && 'accepts' in body
  if (!isOffer) return {}
  const { accepts } = body
  return { accepts, ...('x402Version' in body && { x402Version: body.x402Version }) }
}

async function confirmed(
  terms: X402PaymentPrepareAnswer,
  maxUsd: string,
  confirm: PaidInit['confirm'],
): Promise<boolean> {
  const { amount_usd: amountUsd } = terms.terms
  if (atomic(amountUsd) > atomic(maxUsd)) {
    const message = `It costs ${amountUsd} USD, more than the maximum of ${maxUsd} USD.`
    throw new PaymentError('over_max', message, terms)
  }
  if (!terms.requires_user_confirm) return false
  const url = ownerPage(terms.confirmation)
  const isYes = await confirm?.({ summary: terms.summary, amountUsd, url, terms })
  if (isYes) return true
  const message = `It needs a confirmation: ${terms.summary}`
  throw new PaymentError('not_confirmed', message, terms)
}

/** Returns the page on which the owner decides; undefined where the user's word is enough. */
export function ownerPage(asked: { level: string; url: string } | undefined): string | undefined {
  return asked?.level === 'agent_asserted' ? undefined : asked?.url
}

/** Reads a decimal string as an integer of 18 decimals. */
export function atomic(decimal: string): bigint {
  const [, whole = '', part = ''] = /^([0-9]{1,18})(?:\.([0-9]{1,18}))?$/.exec(decimal) ?? []
  if (whole === '') throw new TypeError(`${decimal} is not an amount such as "0.25".`)
  return BigInt(whole + part.padEnd(18, '0'))
}

const problems: Partial<Record<X402PaymentExecuteAnswer['status'], PaymentProblem>> = {
  paid_not_delivered: 'not_delivered',
  rejected_unpaid: 'not_paid',
  unknown: 'outcome_unknown',
  awaiting_confirmation: 'not_confirmed',
}

function bought(
  account: AccountClient,
  terms: X402PaymentPrepareAnswer,
  paid: X402PaymentExecuteAnswer,
): Response {
  const { response } = paid
  const problem = problems[paid.status]
  if (problem !== undefined || !response) {
    const message = paid.hint ?? paid.reasons[0]?.message ?? `The payment is ${paid.status}.`
    throw new PaymentError(problem ?? 'not_delivered', message, terms, paid)
  }
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  headers.delete('content-encoding')
  const hasNoBody = [204, 205, 304].includes(response.status)
  const body = hasNoBody ? null : streamOf(account, terms.attempt_id, paid)
  return new Response(body, { status: response.status, headers })
}

/** Streams the answer of the merchant, and asks for each further piece when it is read. */
function streamOf(
  account: AccountClient,
  attempt_id: string,
  first: X402PaymentExecuteAnswer,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let next: number | undefined
  let piece = first.response
  return new ReadableStream({
    async pull(controller) {
      if (next !== undefined) {
        const more = await account.x402PaymentExecute({ attempt_id, response_piece: next })
        piece = more.response
      }
      if (!piece) throw new Error('a piece of the answer is missing')
      controller.enqueue(bytesOf(piece))
      next = piece.next_piece
      if (next === undefined) controller.close()
    },
  })
}

function bytesOf(piece: NonNullable<X402PaymentExecuteAnswer['response']>) {
  if (piece.body_base64 !== undefined) {
    return Uint8Array.from(atob(piece.body_base64), (one) => one.charCodeAt(0))
  }
  const text = 'body_json' in piece ? JSON.stringify(piece.body_json) : (piece.body ?? '')
  return new TextEncoder().encode(text)
}

/** Operations that move money. */
const paying: readonly string[] = [
  'wallet_custodial_transfer',
  'x402_payment_execute',
  'defi_order_create',
]

/** True if money may have moved. */
export function isOutcomeOpen(error: unknown): boolean {
  if (error instanceof PaymentError) {
    return ['outcome_unknown', 'not_delivered'].includes(error.problem)
  }
  const codes = ['network_error', 'timeout', 'unexpected_answer']
  const isLost = error instanceof AccountError && codes.includes(error.code)
  return isLost && paying.includes(error.operation)
}
