// Keys of one session with a wallet. They live as long as the page and are never stored.

/** Bytes that Web Crypto accepts. */
export type Bytes = Uint8Array<ArrayBuffer>

/** Returns random bytes. */
export function randomKeyBytes(length: number): Bytes {
  return crypto.getRandomValues(new Uint8Array(length))
}

/** Encodes bytes in lower-case hex. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Returns the topic of the messages under a key: the SHA-256 digest of the key. */
export async function topicOfKey(key: Bytes): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', key)))
}

/** Creates our half of the key agreement of a session. */
export async function openAgreement() {
  const pair = await crypto.subtle.generateKey({ name: 'X25519' }, false, ['deriveBits'])
  if (!('privateKey' in pair)) throw new Error('X25519 has pairs')
  const publicKey = hexOf(new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)))
  return { publicKey, agree: (peer: string) => agree(pair.privateKey, peer) }
}

/** Agrees by X25519, then HKDF-SHA-256 with neither salt nor info, as every client of the protocol does. */
async function agree(privateKey: CryptoKey, peer: string): Promise<Bytes> {
  const bytes = Uint8Array.from(peer.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  const theirs = await crypto.subtle.importKey('raw', bytes, { name: 'X25519' }, false, [])
  const agreement = { name: 'X25519', public: theirs }
  const shared = await crypto.subtle.deriveBits(agreement, privateKey, 256)
  const secret = await crypto.subtle.importKey('raw', shared, 'HKDF', false, ['deriveBits'])
  const none = new Uint8Array()
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: none, info: none }
  return new Uint8Array(await crypto.subtle.deriveBits(derivation, secret, 256))
}
