/**
 * MPP, the Payment scheme of HTTP authentication (draft-ietf-httpauth-payment), with the method evm and the
 * intent charge (draft-evm-charge): one EIP-3009 authorization whose nonce is bound to the challenge. Other
 * methods and intents are read only to show them to people.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import * as z from 'zod'
import { decodeBytes, decodeText, encodeBase64, encodeTextForUrl, parseJson } from '../base64.ts'
import { findChain } from '../chains/registry.ts'
import { isStorable } from '../contract/keepable.ts'
import type { SignedAuthorization } from '../custody/port.ts'
import { termsShown } from '../text/untrusted.ts'
import type { FrozenRequest } from './challenge.ts'
import type { Offer, UnpayableOffer } from './offer.ts'

const requestLengthMax = 16_384
/** Longest parameters as JSON. They are stored with the payment and sent back in one header. */
const challengeLengthMax = 24_576
/** Seconds for which a signature is valid if the challenge has no expiry. */
const defaultSeconds = 300

const challengeFields = z.looseObject({
  id: z.string().min(1).max(1024),
  realm: z.string().max(1024),
  method: z.string().min(1).max(64),
  intent: z.string().min(1).max(64),
  request: z.string().min(1).max(requestLengthMax),
  expires: z.iso.datetime({ offset: true }).optional(),
  digest: z.string().max(256).optional(),
  header: z.string().max(64).optional(),
})
type ChallengeFields = z.output<typeof challengeFields>

const chargeFields = z.looseObject({
  amount: z.string().regex(/^(0|[1-9][0-9]{0,77})$/),
  currency: z.string().max(64),
  recipient: z.string().max(64),
  methodDetails: z.looseObject({
    chainId: z.int().positive(),
    credentialTypes: z.array(z.string().max(64)).max(16).optional(),
    decimals: z.unknown().optional(),
    splits: z.array(z.unknown()).optional(),
  }),
})

/** Reads the parameters of one challenge of the scheme Payment, for one request. */
export function readMppChallenge(
  params: Record<string, string>,
  request: FrozenRequest,
  now: Date,
): Offer | UnpayableOffer {
  const parsed = challengeFields.safeParse(params)
  const isShort = JSON.stringify(params).length <= challengeLengthMax
  if (!parsed.success || !isShort || !isStorable(params))
    return unpayable(params, {}, 'The Payment challenge cannot be read.')
  const terms = z
    .record(z.string(), z.unknown())
    .safeParse(parseJson(decodeText(parsed.data.request) ?? ''))
  const read = terms.success ? terms.data : {}
  const charge = chargeFields.safeParse(read)
  const { method, intent } = parsed.data
  if (method !== 'evm' || intent !== 'charge') {
    return unpayable(
      params,
      read,
      'Of MPP only the method evm with the intent charge is supported.',
    )
  }
  if (!charge.success) return unpayable(params, read, 'The request of the charge cannot be read.')
  const problem = chargeProblem(charge.data) ?? bindingProblem(parsed.data, request)
  if (problem !== undefined) return unpayable(params, read, problem)
  return offerOf(parsed.data, charge.data, params, now)
}

function offerOf(
  { expires }: ChallengeFields,
  { amount, currency, recipient, methodDetails }: z.output<typeof chargeFields>,
  params: Record<string, string>,
  now: Date,
): Offer {
  const nowSeconds = Math.floor(now.getTime() / 1000)
  const expiresAtSeconds =
    expires === undefined ? nowSeconds + defaultSeconds : Math.floor(Date.parse(expires) / 1000)
  const network = `eip155:${methodDetails.chainId}`
  const { decimals } = methodDetails
  return {
    protocol: 'mpp',
    version: 1,
    requirement: params,
    scheme: 'evm/charge',
    network,
    chain: findChain(network)?.caip2,
    amountAtomic: BigInt(amount),
    asset: currency,
    payTo: recipient,
    maxTimeoutSeconds: expiresAtSeconds - nowSeconds,
    expiresAtSeconds,
    extra: decimals === undefined ? {} : { decimals },
  }
}

/** Returns why the charge cannot be paid. Without credentialTypes, a server takes only transactions. */
function chargeProblem({ methodDetails }: z.output<typeof chargeFields>): string | undefined {
  const { credentialTypes, splits } = methodDetails
  if (!credentialTypes?.includes('authorization')) {
    return 'An authorization is not among the credential types that the server takes.'
  }
  return splits === undefined ? undefined : 'A payment that is split cannot be authorized at once.'
}

/** Checks that the challenge is for this very request, and that the credential's header is free. */
function bindingProblem(challenge: ChallengeFields, request: FrozenRequest): string | undefined {
  const { id, realm, digest, header } = challenge
  if (digest !== undefined && !isDigestOf(digest, request)) {
    return "The digest of the challenge is not that of the request's body."
  }
  if (header !== undefined && !/^(authorization|payment-[a-z-]+)$/i.test(header)) {
    return 'A credential is not sent in the header that the challenge names.'
  }
  const name = credentialHeader(header)
  if (request.headers.some(([given]) => given.toLowerCase() === name)) {
    return 'The request has a header of its own, which the credential would replace.'
  }
  // Nonces of our own payments are derived from texts with this prefix.
  return `${id}${realm}`.startsWith('aoa.') ? 'The id of the challenge is reserved.' : undefined
}

/** Compares `sha-256=:base64:` as in RFC 9530, also without colons as the official servers write it. */
function isDigestOf(digest: string, { body_base64 }: FrozenRequest): boolean {
  const body = decodeBytes(body_base64 ?? '') ?? new Uint8Array()
  return digest.replace(/^(sha-256=):(.*):$/, '$1$2') === `sha-256=${encodeBase64(sha256(body))}`
}

function credentialHeader(header: unknown): string {
  return typeof header === 'string' ? header.toLowerCase() : 'authorization'
}

/** Returns the header with the credential. It echoes the challenge unchanged. */
export function mppCredential(
  terms: Pick<Offer, 'requirement' | 'network'>,
  { signature, ...authorization }: SignedAuthorization,
): readonly [name: string, value: string] {
  const credential = {
    challenge: terms.requirement,
    payload: { ...authorization, signature, type: 'authorization' },
    source: `did:pkh:${terms.network}:${authorization.from}`,
  }
  const value = `Payment ${encodeTextForUrl(JSON.stringify(credential))}`
  return [credentialHeader(terms.requirement['header']), value]
}

const routeFields = z.object({ mppx: z.object({ info: z.record(z.string(), z.unknown()) }) })

/**
 * Returns true if an x402 offer comes from an mppx server that names the route or body to which a payment
 * is to be bound. The server may require that (`routeBinding: 'required'`), but its challenge does not show
 * it.
 */
export function namesRoute(extensions: unknown): boolean {
  const info = routeFields.safeParse(extensions).data?.mppx.info ?? {}
  return ['_mppx_scope', 'digest', 'opaque'].some((name) => info[name] !== undefined)
}

function unpayable(
  params: Record<string, string>,
  terms: Record<string, unknown>,
  reason: string,
): UnpayableOffer {
  const { method = '', intent = '', realm = '', description = '' } = params
  const named = termsShown({ method, intent, realm, description })
  return { protocol: 'mpp', reason, untrusted: [...named, ...termsShown(terms)] }
}

/** One challenge: its scheme in lower case, and its parameters by lower-case name. */
export type AuthChallenge = { scheme: string; params: Record<string, string> }

const headerLengthMax = 65_536
const challengesMax = 16
const paramsMax = 32

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const param = new RegExp(`(${token})[ \\t]*=[ \\t]*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,"]+))`, 'y')
// A scheme may be followed by one token68 instead of parameters. It is skipped; nothing here uses it.
const scheme = new RegExp(
  `(${token})(?:[ \\t]+[A-Za-z0-9._~+/-]+=*(?=[ \\t]*(?:,|$))|(?=[ \\t,]|$))`,
  'y',
)
const separator = /[ \t,]*/y

/** Returns the challenges in the order of the header. */
export function readAuthChallenges(header: string): AuthChallenge[] {
  const challenges: AuthChallenge[] = []
  let at = 0
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(header)
    if (found) at = pattern.lastIndex
    return found
  }
  while (at < Math.min(header.length, headerLengthMax) && challenges.length <= challengesMax) {
    match(separator)
    const current = challenges.at(-1)
    const pair = match(param)
    if (pair && current && addParam(current.params, pair)) continue
    if (pair) {
      challenges.pop()
      break
    }
    const started = match(scheme)
    if (!started) break
    challenges.push({ scheme: (started[1] ?? '').toLowerCase(), params: {} })
  }
  return challenges.slice(0, challengesMax)
}

/** Adds a parameter. A name may occur only once in a challenge (RFC 9110, section 11.2). */
function addParam(params: Record<string, string>, [, name = '', quoted, plain = '']: string[]) {
  const key = name.toLowerCase()
  if (Object.hasOwn(params, key) || Object.keys(params).length >= paramsMax) return false
  params[key] = quoted === undefined ? plain : unquote(quoted)
  return true
}

/** Decodes quoted pairs (RFC 9110, section 5.6.4), and \uXXXX, as MPP servers write other scripts. */
function unquote(quoted: string): string {
  return quoted.replaceAll(
    /\\(?:u([0-9A-Fa-f]{4})|(.))/g,
    (_, code: string | undefined, other: string) =>
      code === undefined ? other : String.fromCharCode(Number.parseInt(code, 16)),
  )
}
