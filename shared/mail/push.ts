/**
 * Sends one notice to one browser through its push service (RFC 8030). The notice is encrypted, and the request says
 * who sends it (VAPID, RFC 8292). The address was given by a browser, so the request goes by the guarded client.
 */
import * as z from 'zod'
import { decodeBytes, encodeForUrl, encodeTextForUrl } from '../base64.ts'
import type { CallerDatabase } from '../db/database.ts'
import { safeFetch } from '../egress/safe-fetch.ts'
import { required } from '../env.ts'
import { visibleText } from '../text/untrusted.ts'
import type { World } from '../world.ts'
import { openOutboxMail } from './outbox.ts'
import type { Failure } from './port.ts'

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
async function sendPush(
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

/** Number of pushes in one run. */
const pushesMax = 50
/** Number of pushes sent at once. A Worker may have six connections open. */
const atOnce = 5

const pushLeaseSchema = z.object({
  id: z.uuid(),
  sealed: z.string(),
  tries: z.int(),
  /** Id of the notice that this repeats. */
  seals: z.uuid(),
  topic: z.string(),
  device: z.object({ endpoint: z.string(), p256dh: z.string(), auth: z.string() }),
})
type PushLease = z.output<typeof pushLeaseSchema>

/** Sends the pushes of one run. */
export async function deliverPushes(world: World, db: CallerDatabase): Promise<void> {
  const leases = await db.many('mailer_claim_pushes', { pushes_max: pushesMax }, pushLeaseSchema)
  for (let from = 0; from < leases.length; from += atOnce) {
    const next = leases.slice(from, from + atOnce)
    await Promise.all(next.map((lease) => deliverOne(world, db, lease)))
  }
}

async function deliverOne(world: World, db: CallerDatabase, lease: PushLease) {
  const failure = await tryToPush(world, lease).catch(
    (error: unknown): Failure => ({ reason: String(error), forGood: false, outage: false }),
  )
  if (!failure) return db.run('mailer_push_done', { push: lease.id })
  if (failure === 'gone') return db.run('mailer_device_gone', { push: lease.id })
  const reason = visibleText(failure.reason)
  world.log({ work: 'push', push: lease.id, tries: lease.tries, log: reason })
  return db.run('mailer_push_failed', { push: lease.id, reason, for_good: failure.forGood })
}

/** Sends the subject of a notice, the first line of its text and its link. Its codes and facts stay in the mail. */
async function tryToPush(
  world: World,
  { device, seals, topic, sealed }: PushLease,
): Promise<Failure | 'gone' | undefined> {
  const { subject, text, link } = await openOutboxMail(world, { id: seals, to: null, sealed })
  const [body = ''] = text.split('\n', 1)
  const isUrgent = topic.endsWith('_wanted')
  const url = link ?? world.config.WEB_URL
  return sendPush(world, device, { id: seals, title: subject, body, url, isUrgent })
}

/** Keys of a browser, base64url: its public key, and the secret that shows a message to be for it. */
type PushKeys = { p256dh: string; auth: string }

const recordBytes = 4096
/** Longest message: push services take bodies of 4096 bytes (RFC 8291 section 4), of which 103 are not text. */
const messageBytesMax = recordBytes - 103
const utf8 = new TextEncoder()

/** Returns the body of the request to the push service. Throws if a key is invalid or the text too long. */
export async function encryptPush(
  world: Pick<World, 'randomBytes'>,
  { p256dh, auth }: PushKeys,
  text: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const message = utf8.encode(text)
  if (message.length > messageBytesMax) throw new Error('a push is too long')
  const [theirs, secret] = [joinBytes(decodeBytes(p256dh)), joinBytes(decodeBytes(auth))]
  const own = await importPrivateKey('ECDH', world.randomBytes(32))
  const shared = await agree(own.key, theirs)
  // RFC 8291 section 3.4.
  const info = joinBytes(utf8.encode('WebPush: info\0'), theirs, own.publicKey)
  const material = await derive(shared, secret, info, 32)
  const salt = world.randomBytes(16)
  const key = await derive(material, salt, utf8.encode('Content-Encoding: aes128gcm\0'), 16)
  const iv = await derive(material, salt, utf8.encode('Content-Encoding: nonce\0'), 12)
  const cipher = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt'])
  // RFC 8188 section 2: the last record ends with the octet 2.
  const record = joinBytes(message, Uint8Array.of(2))
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, cipher, record)
  const head = new DataView(new ArrayBuffer(5))
  head.setUint32(0, recordBytes)
  head.setUint8(4, own.publicKey.length)
  return joinBytes(salt, new Uint8Array(head.buffer), own.publicKey, new Uint8Array(sealed))
}

async function agree(own: PrivateKey['key'], point: Uint8Array<ArrayBuffer>) {
  const theirs = await importPublicKey(point)
  return new Uint8Array(await crypto.subtle.deriveBits({ name: 'ECDH', public: theirs }, own, 256))
}

/** Derives bytes by HKDF with SHA-256 (RFC 5869). */
async function derive(
  secret: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>,
  length: number,
) {
  const key = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits'])
  const way = { name: 'HKDF', hash: 'SHA-256', salt, info }
  return new Uint8Array(await crypto.subtle.deriveBits(way, key, length * 8))
}

/** PKCS#8 (RFC 5958) of a key up to its 32 bytes, without the public key, which the platform computes. */
const pkcs8Head = 'MEECAQAwEwYHKoZIzj0CAQYIKoZIzj0DAQcEJzAlAgEBBCA'

/** A private key, and its public key as an uncompressed point (SEC 1 section 2.3.3). */
type PrivateKey = {
  key: Awaited<ReturnType<typeof crypto.subtle.importKey>>
  publicKey: Uint8Array<ArrayBuffer>
}

/** Imports a private key to agree on a secret (ECDH) or to sign (ECDSA). Throws if the bytes are not a key. */
async function importPrivateKey(name: 'ECDH' | 'ECDSA', bytes: Uint8Array): Promise<PrivateKey> {
  const use = name === 'ECDH' ? 'deriveBits' : 'sign'
  const pkcs8 = joinBytes(decodeBytes(pkcs8Head), bytes)
  const curve = { name, namedCurve: 'P-256' }
  const key = await crypto.subtle.importKey('pkcs8', pkcs8, curve, true, [use])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', key)
  const publicKey = joinBytes(Uint8Array.of(4), decodeBytes(x), decodeBytes(y))
  return { key, publicKey }
}

/** Imports the public key of a browser. Throws if it is not a point of the curve. */
export function importPublicKey(point: Uint8Array<ArrayBuffer>) {
  return crypto.subtle.importKey('raw', point, { name: 'ECDH', namedCurve: 'P-256' }, false, [])
}

/** Joins byte strings. */
function joinBytes(...parts: (Uint8Array | undefined)[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(parts.flatMap((part) => [...(part ?? [])]))
}
