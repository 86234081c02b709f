/** Checks everything about a consent receipt that can be checked offline. */
import { isDeepStrictEqual } from 'node:util'
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import { compactVerify } from 'jose/jws/compact/verify'
import { importJWK } from 'jose/key/import'
import * as z from 'zod'
import { batchTerms, consentRow, faultOfConsent } from '../../shared/consent/consent.ts'
import { receiptType } from '../../shared/consent/receipt.ts'
import { termsDigest } from '../../shared/consent/terms.ts'
import type { Check } from './verifier.ts'

const { level, digest, leaves, passkey } = consentRow.shape
const claims = z.object({
  iss: z.string(),
  iat: z.int(),
  v: z.literal(1),
  terms: z.looseObject({ account_id: z.string(), type: z.string() }),
  digest,
  level,
  asked_at: z.iso.datetime(),
  decided_at: z.iso.datetime(),
  batch: z.object({ leaves: leaves.unwrap() }).optional(),
  passkey: passkey.unwrap().optional(),
  origin: z.url(),
  rp_id: z.string(),
})
const header = z.object({ alg: z.literal('ES256'), typ: z.literal(receiptType), kid: z.string() })

/** The statements of a receipt. */
export type Claims = z.output<typeof claims>

/** Returns the statements of a receipt. Throws a sentence if the text is not a receipt. */
export function claimsOf(receipt: string): Claims {
  return partOf(claims, receipt, 1, 'what it states')
}

function partOf<Output>(
  schema: z.ZodType<Output>,
  receipt: string,
  part: number,
  what: string,
): Output {
  let content: unknown
  try {
    const text = Buffer.from(receipt.split('.')[part] ?? '', 'base64url')
    content = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(text))
  } catch {
    throw new Error(`${what} cannot be read`)
  }
  const read = schema.safeParse(content)
  if (read.success) return read.data
  throw new Error(`${what} is not that of a receipt: ${read.error.issues[0]?.path.join('.')}`)
}

/** Makes every check on its own, so that each check that a change breaks reports it. */
export async function checkReceipt(
  { receipt, keys: own, beside }: ReceiptFile,
  given: PublicKeys | undefined,
): Promise<Check[]> {
  const stated = claimsOf(receipt)
  return [
    {
      name: given ? 'a key that you trust signed it' : 'the key in the file signed it',
      ...(await faultOfSigner(receipt, given ?? own)),
    },
    { name: 'the digest is that of the terms', ...(await faultOfDigest(stated)) },
    ...(await passkeyChecks(stated)),
    ...(beside
      ? [{ name: 'the answer around it says the same', ...faultBeside(stated, beside) }]
      : []),
  ]
}

/** Compares the receipt with the answer around it, which is not signed but is what people read. */
function faultBeside(
  { terms, digest, level, decided_at }: Claims,
  beside: NonNullable<ReceiptFile['beside']>,
) {
  const signed = { terms, digest, level, decided_at }
  const isSame = isDeepStrictEqual({ ...signed, ...beside }, signed)
  return isSame ? {} : { fault: 'nobody signed what it says' }
}

async function faultOfSigner(receipt: string, keys: PublicKeys | undefined) {
  if (!keys) return { fault: 'the file holds no keys; give --keys' }
  try {
    const { kid } = partOf(header, receipt, 0, 'its header')
    const thumbprints = await Promise.all(keys.keys.map((key) => calculateJwkThumbprint(key)))
    const key = keys.keys[thumbprints.indexOf(kid)]
    if (!key) return { fault: `it names the key ${kid}, which is none of them` }
    await compactVerify(receipt, await importJWK(key, 'ES256'), { algorithms: ['ES256'] })
    // The unused bits of the last character could carry anything (RFC 4648 section 3.5).
    const written = receipt.split('.').map((part) => Buffer.from(part, 'base64url'))
    const isPlain = written.map((part) => part.toString('base64url')).join('.') === receipt
    return isPlain ? {} : { fault: 'its encoding was changed' }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

async function faultOfDigest({ terms, digest, batch }: Claims) {
  const own = await termsDigest(terms)
  if (!batch) return own === digest ? {} : { fault: `that of the terms is ${own}` }
  if (!batch.leaves.includes(own))
    return { fault: 'the terms are not among those approved at once' }
  const whole = await termsDigest(await batchTerms(terms.account_id, batch.leaves))
  return whole === digest ? {} : { fault: `that of the ${batch.leaves.length} terms is ${whole}` }
}

/** Checks the owner's signature, if a passkey made one. Otherwise only the service vouches. */
async function passkeyChecks(stated: Claims): Promise<Check[]> {
  const { level, terms, digest, batch, passkey = null, origin, rp_id: rpId } = stated
  if (level === 'user_session') return []
  const consent = { level, digest, leaves: batch?.leaves ?? null, passkey }
  const isPlace = new URL(origin).origin === origin && new URL(origin).hostname === rpId
  const fault = await faultOfConsent(consent, terms, { origin, rpId })
  return [
    {
      name: 'the pages are at the origin that issued it',
      ...(isPlace && new URL(stated.iss).origin === origin ? {} : { fault: origin }),
    },
    {
      name: "the owner's passkey signed the digest there, with the owner verified",
      ...(fault === undefined ? {} : { fault }),
    },
  ]
}

/** Returns the id of the key that the receipt names. */
export function signerOf(receipt: string): string {
  return partOf(header, receipt, 0, 'its header').kid
}

const publicKey = z.object({ kty: z.string(), crv: z.string(), x: z.string(), y: z.string() })
const keySet = z.object({ keys: z.array(publicKey).min(1).max(64) })
const jws = z.string().regex(/^[\w-]+\.[\w-]+\.[\w-]+$/, 'not a JWS in compact form')
/** Fields beside the receipt, for readers who do not decode it. */
const beside = z.object({
  terms: z.record(z.string(), z.unknown()).optional(),
  digest: z.string().optional(),
  level: z.string().optional(),
  decided_at: z.string().optional(),
})
const answer = beside.extend({ receipt: jws, public_keys: keySet.optional() })

/** Keys that may have signed a receipt. */
type PublicKeys = z.output<typeof keySet>
/** A receipt with the rest of its file. */
export type ReceiptFile = {
  receipt: string
  keys: PublicKeys | undefined
  /** Undefined if the file is the receipt alone. */
  beside?: z.output<typeof beside>
}

/** Reads a file. Throws a sentence that says what is wrong with the text. */
export function readReceipt(text: string): ReceiptFile {
  const bare = jws.safeParse(text.trim())
  if (bare.success) return { receipt: bare.data, keys: undefined }
  const { receipt, public_keys: keys, ...said } = parsed(answer, text, 'not a consent receipt')
  return { receipt, keys, beside: said }
}

/** Reads a JWKS (RFC 7517). Throws as `readReceipt` does. */
export function readKeys(text: string): PublicKeys {
  return parsed(keySet, text, 'not a JWKS of P-256 keys')
}

function parsed<Output>(schema: z.ZodType<Output>, text: string, what: string): Output {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw new Error('not JSON')
  }
  const read = schema.safeParse(content)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new Error(`${what}: ${issue?.path.join('.')} ${issue?.message}`)
}
