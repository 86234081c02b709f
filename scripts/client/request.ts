/** Makes the HTTP request of one call. */
import type { Call } from './operations.ts'
import type { ClientOptions } from './options.ts'

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

/** Returns method, headers and body of a call. Throws a TypeError for a value that cannot be a token. */
export async function requestOf(
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
