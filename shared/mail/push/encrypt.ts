/**
 * Encrypts a message to one browser (RFC 8291) as a body of one record in aes128gcm (RFC 8188). The push service that
 * carries it learns its length and nothing else. Each message has a key pair and a salt of its own.
 */
import { decodeBytes } from '../../base64.ts'
import type { World } from '../../world.ts'
import type { PrivateKey } from './p256.ts'
import { importPrivateKey, importPublicKey, joinBytes } from './p256.ts'

/** Keys of a browser, base64url: its public key, and the secret that shows a message to be for it. */
export type PushKeys = { p256dh: string; auth: string }

const recordBytes = 4096
/** Longest message: push services take bodies of 4096 bytes (RFC 8291 section 4), of which 103 are not text. */
const messageBytesMax = recordBytes - 103
const utf8 = new TextEncoder()

/** Returns the body of the request to the push service. Throws if the keys are no keys or the text is too long. */
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
