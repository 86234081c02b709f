import { decodeBytes } from '../../shared/base64.ts'
import { required } from '../../shared/env.ts'
import type { World } from '../../shared/world.ts'

/** Seconds by which two clocks may differ; a request can be replayed until its timestamp is this old. */
const ageSecondsMax = 300
const signaturesMax = 8

/** Decides whether the holder of INBOUND_MAIL_SECRET signed a request (standardwebhooks.com 1). */
export async function isSigned(
  { config, now }: Pick<World, 'config' | 'now'>,
  headers: Headers,
  body: Uint8Array,
): Promise<boolean> {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map(
    (name) => headers.get(`webhook-${name}`) ?? '',
  )
  if (!id || !timestamp || !signatures || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(now().getTime() / 1000 - Number(timestamp)) > ageSecondsMax) return false
  const signed = new Blob([`${id}.${timestamp}.`, new Uint8Array(body)])
  const content = await signed.arrayBuffer()
  const key = await webhookKey(required(config, 'INBOUND_MAIL_SECRET'))
  const given = signatures.split(' ').slice(0, signaturesMax)
  const holds = await Promise.all(given.map((one) => holdsOf(key, one, content)))
  return holds.includes(true)
}

/** Verifies one signature with crypto.subtle, which compares in constant time. */
async function holdsOf(key: Key, signature: string, content: ArrayBuffer) {
  const [, encoded] = /^v1,(.+)$/.exec(signature) ?? []
  const bytes = encoded === undefined ? undefined : decodeBytes(encoded)
  return bytes !== undefined && crypto.subtle.verify('HMAC', key, bytes, content)
}

type Key = Awaited<ReturnType<typeof webhookKey>>

function webhookKey(secret: string) {
  const bytes = decodeBytes(secret.replace(/^whsec_/, ''))
  if (!bytes) throw new Error('INBOUND_MAIL_SECRET is not base64')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}
