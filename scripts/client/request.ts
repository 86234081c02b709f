/** One call as an HTTP request. */
import type { Call } from './operations.ts'
import type { ClientOptions } from './options.ts'

/** What an operation takes; undefined is as good as absent. */
export type Input = Record<string, unknown>

/** The service's address without a slash at its end; throws where a token would not be safe. */
export function readBaseUrl(text: string): string {
  const { protocol, hostname } = new URL(text)
  const isHere = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  if (protocol === 'https:' || (protocol === 'http:' && isHere)) return text.replace(/\/+$/, '')
  throw new TypeError('baseUrl has to begin with https://; http:// is for this machine alone.')
}

/** The address of a call: fields of a GET are in its query. */
export function addressOf({ method, folder }: Call, input: Input, baseUrl: string): string {
  const address = `${baseUrl}/${folder}`
  if (method === 'POST') return address
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue
    query.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return query.size === 0 ? address : `${address}?${query.toString()}`
}

/** Everything else of it. Throws a TypeError for what cannot be a token. */
export async function requestOf(
  { method }: Call,
  input: Input,
  client: ClientOptions,
  idempotencyKey: string | undefined,
): Promise<RequestInit> {
  const token = client.token ? await client.token() : client.apiKey
  const headers = {
    accept: 'application/json',
    // Without a version: the service goes by it to tell a known device where no other name is given.
    'user-agent': 'agent-operating-account-client',
    ...(token === undefined ? {} : { authorization: `Bearer ${readToken(token)}` }),
    ...(client.deviceId === undefined ? {} : { 'x-device-id': client.deviceId }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  }
  // A redirect would carry the token to where nobody meant it to go.
  const plain = { method, headers, redirect: 'manual' } as const
  if (method === 'GET') return plain
  const body = JSON.stringify(input)
  return { ...plain, headers: { ...headers, 'content-type': 'application/json' }, body }
}

/** What fetch says of a header that it refuses holds the header, which belongs into no log. */
function readToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new TypeError(
    'The token has characters that no token has: a line break at its end, perhaps.',
  )
}
