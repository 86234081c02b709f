/**
 * Secrets of webhooks, and the signatures made with them (Standard Webhooks 1.0.0). A secret is shown once and
 * stored under a key that the database never sees.
 */
import { decodeBytes, encodeBase64 } from '../base64.ts'
import { openText, sealText } from '../mail/outbox.ts'
import type { World } from '../world.ts'

const prefix = 'whsec_'
/** Standard Webhooks: 24 to 64 bytes. */
const secretBytes = 32

/** Draws the secret of a webhook: as its receiver gets it, and as it is stored. */
export async function newSigningSecret(
  world: Pick<World, 'config' | 'randomBytes'>,
  webhook: string,
): Promise<{ secret: string; sealed: string }> {
  const secret = prefix + encodeBase64(world.randomBytes(secretBytes))
  return { secret, sealed: await sealText(world, secret, factsOf(webhook)) }
}

/** Opens a stored secret. `resealed` is to be stored in its place, while the key that it is under is replaced. */
export async function openSigningSecret(
  world: Pick<World, 'config' | 'randomBytes'>,
  webhook: string,
  sealed: string,
): Promise<{ secret: string; resealed?: string }> {
  const { text: secret, isOld } = await openText(world, sealed, factsOf(webhook))
  return isOld ? { secret, resealed: await sealText(world, secret, factsOf(webhook)) } : { secret }
}

/** Returns the headers of a signed body. The time is in seconds, and is that of the try. */
export async function signedHeaders(
  secret: string,
  { id, at, body }: { id: string; at: Date; body: string },
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const way = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = decodeBytes(secret.slice(prefix.length)) ?? new Uint8Array()
  const key = await crypto.subtle.importKey('raw', bytes, way, false, ['sign'])
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${encodeBase64(signature)}`,
  }
}

function factsOf(webhook: string) {
  return ['webhook', webhook] as const
}
