/**
 * Sends one notice to one browser through its push service (RFC 8030). The notice is encrypted, and the request says
 * who sends it (VAPID, RFC 8292). The address was given by a browser, so the request goes by the guarded client.
 */
import { decodeBytes, encodeForUrl, encodeTextForUrl } from '../../base64.ts'
import { safeFetch } from '../../egress/safe-fetch.ts'
import { required } from '../../env.ts'
import type { World } from '../../world.ts'
import type { Failure } from '../port.ts'
import type { PushKeys } from './encrypt.ts'
import { encryptPush } from './encrypt.ts'
import { importPrivateKey } from './p256.ts'

/** A browser that receives pushes. */
export type PushDevice = PushKeys & { endpoint: string }

/** A notice for a browser. Pushes with the same id replace each other while they wait, and on the screen. */
export type Push = { id: string; title: string; body: string; url: string; isUrgent: boolean }

/** Seconds for which a push service keeps a message for a browser that is off. */
const ttlSeconds = 86_400
/** Seconds for which a token is good; RFC 8292 section 2 allows 24 hours. */
const tokenSeconds = 43_200
/** Push services answer at once; one that does not must not keep the notices of others waiting. */
const limits = { timeoutMilliseconds: 2_000, bytesMax: 4096 }

/** Sends a push. Returns `gone` if the browser no longer receives any, undefined if the push was taken. */
export async function sendPush(
  world: World,
  { endpoint, ...keys }: PushDevice,
  { id, isUrgent, ...shown }: Push,
): Promise<Failure | 'gone' | undefined> {
  const url = new URL(endpoint)
  const headers = Object.entries({
    authorization: await vapid(world, url.origin),
    'content-encoding': 'aes128gcm',
    'content-type': 'application/octet-stream',
    ttl: String(ttlSeconds),
    urgency: isUrgent ? 'high' : 'normal',
    topic: id.replaceAll('-', ''),
  })
  const body = await encryptPush(world, keys, JSON.stringify({ ...shown, tag: id }))
  const answer = await safeFetch(world, { url, method: 'POST', headers, body }, limits)
  if (answer.kind !== 'answered') {
    const reason = 'reason' in answer ? answer.reason : answer.kind
    return { reason, forGood: answer.kind === 'refused', outage: false }
  }
  const { status } = answer
  if (status === 404 || status === 410) return 'gone'
  if (status < 300) return undefined
  const forGood = status < 500 && status !== 429 && status !== 408
  return { reason: `the push service answered ${status}`, forGood, outage: false }
}

/** Returns the credential for one push service: a token for its origin, signed by the operator's key. */
async function vapid(world: World, audience: string): Promise<string> {
  const secret = decodeBytes(required(world.config, 'VAPID_PRIVATE_KEY')) ?? new Uint8Array()
  const { key, publicKey } = await importPrivateKey('ECDSA', secret)
  const claims = {
    aud: audience,
    exp: Math.floor(world.now().getTime() / 1000) + tokenSeconds,
    sub: `mailto:postmaster@${required(world.config, 'NOTICE_DOMAIN')}`,
  }
  const signed = [{ typ: 'JWT', alg: 'ES256' }, claims].map((part) => JSON.stringify(part))
  const text = signed.map(encodeTextForUrl).join('.')
  const way = { name: 'ECDSA', hash: 'SHA-256' }
  const signature = await crypto.subtle.sign(way, key, new TextEncoder().encode(text))
  return `vapid t=${text}.${encodeForUrl(new Uint8Array(signature))}, k=${encodeForUrl(publicKey)}`
}
