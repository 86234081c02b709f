/**
 * Consent receipts: a signed statement (JWS, RFC 7515) of what an owner agreed to, how and when. It
 * includes the owner's own signature if a passkey made one. It does not prove a payment. Each request makes
 * the receipt again from stored data, so older keys are needed only to check old files.
 */
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import { SignJWT } from 'jose/jwt/sign'
import { importJWK } from 'jose/key/import'
import * as z from 'zod'
import { parseJson } from '../base64.ts'
import { relyingPartyOf } from './assertion.ts'
import type { Consent } from './consent.ts'

/** The `typ` of a receipt, so that it cannot be confused with another token of the service. */
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

/** Input of a receipt. */
export type ReceiptFacts = {
  /** Base URL of the pages: what the owner looked at, and the issuer of the receipt. */
  webUrl: string
  at: Date
  terms: object
  consent: Consent
}

/** Signs a receipt with a JWK in JSON; the header names the key by its thumbprint (RFC 7638). */
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
  const { origin, rpId } = relyingPartyOf(webUrl)
  const { passkey } = consent
  return {
    v: 1,
    terms,
    digest: consent.digest,
    level: consent.level,
    asked_at: new Date(consent.asked_at).toISOString(),
    decided_at: new Date(consent.decided_at).toISOString(),
    ...(consent.leaves ? { batch: { leaves: consent.leaves } } : {}),
    ...(passkey
      ? { passkey: { ...passkey, added_at: new Date(passkey.added_at).toISOString() } }
      : {}),
    origin,
    rp_id: rpId,
  }
}

/** Returns the keys that verify receipts (RFC 7517), each with its thumbprint as `kid`. */
export async function receiptKeys(keysText: string) {
  // The schema drops unknown fields, so a private key part in the setting is never published.
  const { keys } = keySet.parse(parseJson(keysText))
  const named = keys.map(async (key) => ({
    ...key,
    alg: algorithm,
    use: 'sig',
    kid: await calculateJwkThumbprint(key),
  }))
  return { keys: await Promise.all(named) }
}
