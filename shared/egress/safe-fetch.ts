/**
 * The guarded client for addresses that strangers chose. It reaches hosts of the public DNS over https
 * only, follows no redirect, and reads a bounded number of bytes within a bounded time. It cannot see what
 * a host name resolves to: the platform's egress must block private networks.
 */
import type { Config } from '../env.ts'
import type { World } from '../world.ts'
import { topLevelDomains } from './top-level-domains.ts'

/** An address that may be fetched, or a sentence that says why not. */
export type CheckedUrl = { url: URL } | { refused: string }

/** Settings that decide which addresses may be fetched. */
export type Egress = Pick<Config, 'allowLoopback'> & Partial<Pick<Config, 'BASE_URL'>>

/** The part of the world that a request to a stranger needs. */
export type Outside = Pick<World, 'fetch' | 'deadline'> & { config: Egress }

/** Checks whether an address may be fetched. The WHATWG parser has normalized all spellings by then. */
export function checkUrl(text: string, config: Egress): CheckedUrl {
  if (text.length > 4096) return { refused: 'The address is longer than 4096 characters.' }
  if (!URL.canParse(text)) return { refused: 'The address cannot be parsed.' }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    return { refused: 'The address carries a user name or password.' }
  }
  if (config.allowLoopback && isLoopbackUrl(url)) return { url }
  if (isOwnSandbox(url, config)) return { url }
  if (url.protocol !== 'https:') return { refused: 'The address is not https.' }
  if (url.port !== '') return { refused: 'The address names a port other than 443.' }
  const problem = hostProblem(url.hostname)
  return problem === undefined ? { url } : { refused: problem }
}

/** True for the reports of the own sandbox: a service on one machine has no public address of its own. */
function isOwnSandbox({ origin, pathname }: URL, { BASE_URL }: Egress): boolean {
  return (
    BASE_URL !== undefined &&
    /^\/sandbox\/[a-z0-9]+\/report$/.test(pathname) &&
    origin === new URL(BASE_URL).origin
  )
}

function isLoopbackUrl(url: URL): boolean {
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:'
  return isHttp && isLoopbackHost(url.hostname)
}

/** True if `hostname`, in the form of URL, is this machine. A setting decides whether it may be reached. */
export function isLoopbackHost(hostname: string): boolean {
  return ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
}

function hostProblem(host: string): string | undefined {
  if (host.startsWith('[') || /^[0-9.]+$/.test(host)) return 'The host is an IP address.'
  if (host.endsWith('.')) return 'The host ends with a dot.'
  if (!host.includes('.')) return 'The host is a single label.'
  // This also excludes names of RFC 6761, RFC 6762, RFC 8375, RFC 9476, of clusters and of home networks.
  const last = host.slice(host.lastIndexOf('.') + 1)
  if (!topLevelDomains.includes(` ${last} `)) return 'The host is not a public name.'
  // RFC 1035 section 2.3.4: labels of at most 63 characters, names of at most 253.
  const isName = host
    .split('.')
    .every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))
  return isName && host.length <= 253 ? undefined : 'The host is no valid name.'
}

/** The request to send: headers in order, the body as bytes. */
export type SafeRequest = {
  url: URL
  method: string
  headers: ReadonlyArray<readonly [string, string]>
  body?: Uint8Array<ArrayBuffer>
}

/** Time limit of the whole exchange, and maximum bytes of the body. */
export type Limits = {
  timeoutMilliseconds: number
  bytesMax: number
  /**
   * True if the answer costs money: nothing of it is refused. A redirect is an answer like another, an encoded
   * body is taken as the platform decodes it, and of a body that breaks off the beginning is returned.
   */
  isPaidFor?: boolean
}

/** An answer, or the beginning of one. */
export type FetchedAnswer = {
  status: number
  headers: Headers
  body: Uint8Array
  truncated: boolean
}

/** Outcome of a request; the other side cannot cause any other. */
export type Fetched =
  | ({ kind: 'answered' } & FetchedAnswer)
  /** A redirect, which was not followed. */
  | { kind: 'redirected'; status: number; headers: Headers; location: string | null }
  | { kind: 'timeout'; begun?: FetchedAnswer }
  | { kind: 'unreachable'; reason: string; begun?: FetchedAnswer }
  | { kind: 'refused'; reason: string }

/** Sends one request under the rules of this file. Never throws for what the other side does. */
export async function safeFetch(
  world: Outside,
  request: SafeRequest,
  limits: Limits,
): Promise<Fetched> {
  const checked = checkUrl(request.url.href, world.config)
  if ('refused' in checked) return { kind: 'refused', reason: checked.refused }
  const signal = world.deadline(limits.timeoutMilliseconds)
  try {
    const response = await world.fetch(checked.url, {
      method: request.method,
      headers: [
        ...request.headers.map(([name, value]): [string, string] => [name, value]),
        identity,
      ],
      redirect: 'manual',
      signal,
      ...(request.body === undefined ? {} : { body: request.body }),
    })
    const unread = limits.isPaidFor === true ? undefined : await leaveUnread(response)
    return unread ?? (await readResponse(response, limits, signal))
  } catch (error) {
    return fetchFailure(error, signal)
  }
}

function fetchFailure(
  error: unknown,
  { aborted }: AbortSignal,
): Fetched & { kind: 'timeout' | 'unreachable' } {
  if (aborted) return { kind: 'timeout' }
  return { kind: 'unreachable', reason: error instanceof Error ? error.message : 'unknown' }
}

/** Asks for an uncompressed body, so that the counted bytes are the sent bytes. */
const identity: [string, string] = ['accept-encoding', 'identity']

/** Returns the outcome for a redirect or an encoded body, neither of which is read. */
async function leaveUnread(response: Response): Promise<Fetched | undefined> {
  const { status, headers } = response
  if (status >= 300 && status < 400 && status !== 304) {
    await response.body?.cancel()
    return { kind: 'redirected', status, headers, location: headers.get('location') }
  }
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    await response.body?.cancel()
    return { kind: 'refused', reason: 'The answer is compressed, which was not asked for.' }
  }
  return undefined
}

async function readResponse(
  response: Response,
  { bytesMax, isPaidFor }: Limits,
  signal: AbortSignal,
): Promise<Fetched> {
  const { status, headers } = response
  const { broken, ...read } = await readBounded(response, bytesMax)
  const answer = { status, headers, ...read }
  if (broken === undefined) return { kind: 'answered', ...answer }
  const failure = fetchFailure(broken.by, signal)
  return isPaidFor === true ? { ...failure, begun: answer } : failure
}

async function readBounded(response: Response, bytesMax: number) {
  const chunks: Uint8Array[] = []
  let length = 0
  let broken: { by: unknown } | undefined
  const reader = response.body?.getReader()
  while (reader && length <= bytesMax && broken === undefined) {
    try {
      const next: { done: boolean; value?: unknown } = await reader.read()
      if (next.done) return { body: join(chunks, length), truncated: false }
      if (!(next.value instanceof Uint8Array)) throw new Error('a body came as something but bytes')
      chunks.push(next.value)
      length += next.value.length
    } catch (error) {
      broken = { by: error }
    }
  }
  if (broken === undefined) await reader?.cancel()
  const isCut = length > bytesMax || broken !== undefined
  return { body: join(chunks, length).slice(0, bytesMax), truncated: isCut, broken }
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    joined.set(chunk, at)
    at += chunk.length
  }
  return joined
}
