/**
 * One call with its repetitions. A call is repeated if the service says that nothing was changed. After a
 * lost answer it is repeated only if a repetition cannot have a second effect: the operation changes
 * nothing, or nothing more, or it has an Idempotency-Key, which all repetitions share.
 */
import { AccountError, readAnswer } from './account-error.ts'
import type { Call } from './operations.ts'
import type { CallOptions, ClientOptions } from './options.ts'

const timeoutMillisecondsDefault = 60_000
const repetitionsMaxDefault = 3
const firstPauseMilliseconds = 250

/** Returns the body that came with 200. Throws an AccountError, or the reason of the caller's signal. */
export async function callOperation(
  call: Call,
  input: Input,
  client: ClientOptions,
  options: CallOptions,
): Promise<Record<string, unknown>> {
  const limits = limitsOf(client, options)
  const key = call.keyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined
  let lost: AccountError | undefined
  for (let repetitions = 0; ; repetitions += 1) {
    const init = await requestOf(call, input, client, key)
    const answer = await ask(call, callUrl(call, input, client.baseUrl), init, client, limits)
    if (!(answer instanceof AccountError)) return answer
    const milliseconds = pauseBefore(repetitions, answer, call, limits)
    // That a repetition had to wait does not say what came of the call before it.
    if (milliseconds === undefined) throw isWorthRepeating(answer, call) ? (lost ?? answer) : answer
    if (call.keyed && answer.code === 'network_error') lost = answer
    await waitOrAbort(milliseconds, limits.ending)
  }
}

type Limits = {
  repetitionsMax: number
  endsAt: number
  /** Signal that the caller gave. */
  signal: AbortSignal | undefined
  deadline: AbortSignal
  /** Signal of whichever of the two comes first. */
  ending: AbortSignal
}

function limitsOf(client: ClientOptions, { signal, ...own }: CallOptions): Limits {
  const milliseconds =
    own.timeoutMilliseconds ?? client.timeoutMilliseconds ?? timeoutMillisecondsDefault
  const deadline = AbortSignal.timeout(milliseconds)
  return {
    repetitionsMax: own.repetitionsMax ?? client.repetitionsMax ?? repetitionsMaxDefault,
    endsAt: Date.now() + milliseconds,
    signal,
    deadline,
    ending: signal ? AbortSignal.any([signal, deadline]) : deadline,
  }
}

async function ask(
  { id }: Call,
  address: string,
  init: RequestInit,
  { fetch = globalThis.fetch }: ClientOptions,
  { signal, deadline, ending }: Limits,
): Promise<Record<string, unknown> | AccountError> {
  try {
    return await readAnswer(id, await fetch(address, { ...init, signal: ending }))
  } catch (error) {
    if (error instanceof AccountError) return error
    signal?.throwIfAborted()
    const lost = { operation: id, status: 0, cause: error }
    if (!deadline.aborted) {
      const message = 'The service was not reached, or its answer was lost.'
      return new AccountError({ ...lost, code: 'network_error', message })
    }
    const message =
      'The service did not answer in time; whether the call had an effect is not known.'
    return new AccountError({ ...lost, code: 'timeout', message })
  }
}

/** Returns the milliseconds before a repetition; undefined if the call must not or cannot be repeated. */
function pauseBefore(
  repetitions: number,
  error: AccountError,
  call: Call,
  { endsAt, repetitionsMax }: Limits,
): number | undefined {
  if (repetitions >= repetitionsMax || !isWorthRepeating(error, call)) return undefined
  // Between half of it and all of it, so that clients that failed together do not come back together.
  const grown = firstPauseMilliseconds * 2 ** repetitions * (0.5 + Math.random() / 2)
  const asked = error.retryAfterSeconds === undefined ? grown : error.retryAfterSeconds * 1000
  return Date.now() + asked < endsAt ? asked : undefined
}

function isWorthRepeating({ code, status }: AccountError, { repeatable }: Call): boolean {
  if (code === 'rate_limited' || code === 'unavailable' || code === 'conflict') return true
  const isOfAProxy = code === 'unexpected_answer' && [429, 502, 503, 504].includes(status)
  return (code === 'network_error' || isOfAProxy) && repeatable
}

function waitOrAbort(milliseconds: number, ending: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    const end = () => {
      clearTimeout(timer)
      reject(ending.reason)
    }
    ending.addEventListener('abort', end, { once: true })
  })
}

/** Fields of a request; an undefined field counts as absent. */
export type Input = Record<string, unknown>

/** Returns the service's address without a slash at its end. Throws if a token would not be safe there. */
export function readBaseUrl(text: string): string {
  const { protocol, hostname } = new URL(text)
  const isHere = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  if (protocol === 'https:' || (protocol === 'http:' && isHere)) return text.replace(/\/+$/, '')
  throw new TypeError('baseUrl has to begin with https://; http:// is for this machine alone.')
}

/** Returns the address of a call. The fields of a GET are in its query. */
function callUrl({ method, folder }: Call, input: Input, baseUrl: string): string {
  const address = `${baseUrl}/${folder}`
  if (method === 'POST') return address
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue
    query.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return query.size === 0 ? address : `${address}?${query.toString()}`
}

/** Returns method, headers and body of a call. Throws a TypeError for a value that cannot be a token. */
async function requestOf(
  { method }: Call,
  input: Input,
  client: ClientOptions,
  idempotencyKey: string | undefined,
): Promise<RequestInit> {
  const token = client.token ? await client.token() : client.apiKey
  const headers = {
    accept: 'application/json',
    // Without a version, because the service recognizes a device by it if no other name is given.
    'user-agent': 'agent-operating-account-client',
    ...(token === undefined ? {} : { authorization: `Bearer ${readToken(token)}` }),
    ...(client.deviceId === undefined ? {} : { 'x-device-id': client.deviceId }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  }
  // Following a redirect would carry the token to another address.
  const plain = { method, headers, redirect: 'manual' } as const
  if (method === 'GET') return plain
  const body = JSON.stringify(input)
  return { ...plain, headers: { ...headers, 'content-type': 'application/json' }, body }
}

/** Checks the token here, because fetch's error about a bad header would show it in logs. */
function readToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new TypeError(
    'The token has characters that no token has: a line break at its end, perhaps.',
  )
}
