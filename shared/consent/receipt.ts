/**
 * Consent receipts: a signed statement (JWS, RFC 7515) of what an owner agreed to, how and when, with
 * the owner's own signature in it where a passkey made one. It proves no payment. A receipt is made
 * anew from what is stored whenever it is asked for, so an older key is only needed to check old files.
 */
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import { SignJWT } from 'jose/jwt/sign'
import { importJWK } from 'jose/key/import'
import * as z from 'zod'
import { parseJson } from '../base64.ts'
import type { Consent } from './consent.ts'
import { placeOf } from './place.ts'

/** The `typ` of a receipt, so that no other token of the service is taken for one. */
export const receiptType = 'aoa-consent-receipt+jwt'

const algorithm = 'ES256'
const publicKey = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
})
const privateKey = publicKey.extend({ d: z.string() })
const keySet = z.object({ keys: z.array(publicKey) })

/** What a receipt is made of. */
export type ReceiptFacts = {
  /** Where the pages are: what the owner looked at, and who states this. */
  webUrl: string
  at: Date
  terms: object
  consent: Consent
}

/** Signs a receipt with a JWK in text; it names the key by its thumbprint (RFC 7638). */
export async function signReceipt(keyText: string, facts: ReceiptFacts): Promise<string> {
  const jwk = privateKey.parse(parseJson(keyText))
  const kid = await calculateJwkThumbprint(jwk)
  return new SignJWT(claimsOf(facts))
    .setProtectedHeader({ alg: algorithm, typ: receiptType, kid })
    .setIssuer(facts.webUrl)
    .setIssuedAt(facts.at)
    .sign(await importJWK(jwk, algorithm))
}

function claimsOf({ webUrl, terms, consent }: ReceiptFacts) {
  const { origin, rpId } = placeOf(webUrl)
  return {
    v: 1,
    terms,
    digest: consent.digest,
    level: consent.level,
    asked_at: new Date(consent.asked_at).toISOString(),
    decided_at: new Date(consent.decided_at).toISOString(),
    ...(consent.leaves ? { batch: { leaves: consent.leaves } } : {}),
    ...(consent.passkey ? { passkey: statedPasskey(consent.passkey) } : {}),
    origin,
    rp_id: rpId,
  }
}

function statedPasskey(passkey: NonNullable<Consent['passkey']>) {
  return { ...passkey, added_at: new Date(passkey.added_at).toISOString() }
}

/** The keys that receipts are checked with (RFC 7517), each with its thumbprint as `kid`. */
export async function receiptKeys(keysText: string) {
  // What is not named is dropped: a private part that slipped in is never published.
  const { keys } = keySet.parse(parseJson(keysText))
  const named = keys.map(async (key) => ({
    ...key,
    alg: algorithm,
    use: 'sig',
    kid: await calculateJwkThumbprint(key),
  }))
  return { keys: await Promise.all(named) }
}
