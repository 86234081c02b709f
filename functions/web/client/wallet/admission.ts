// Authenticates a client to the relay: a JWT signed by a key that is new for every page, whose public
// half is the client's name (WalletConnect 2.0 specifications, "Relay Client Auth").
import { encodeForUrl, encodeTextForUrl } from '../../../../shared/base64.ts'
import { hexOf, randomKeyBytes } from './keys.ts'

const daySeconds = 86_400
/** Multicodec prefix of an Ed25519 public key, as in did:key. */
const ed25519 = [0xed, 0x01]
const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Creates the key pair by which the relay knows a client and remembers what it has received. */
export function newName(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey('Ed25519', false, ['sign'])
}

/** Makes the JWT that admits a client to the relay for a day. */
export async function admissionTo(relay: string, name: CryptoKeyPair): Promise<string> {
  const { privateKey, publicKey } = name
  const key = new Uint8Array(await crypto.subtle.exportKey('raw', publicKey))
  const iat = Math.floor(Date.now() / 1000)
  const claims = {
    iss: `did:key:z${inBase58(Uint8Array.of(...ed25519, ...key))}`,
    sub: hexOf(randomKeyBytes(32)),
    aud: relay,
    iat,
    exp: iat + daySeconds,
    act: 'client_auth',
  }
  const parts = [{ alg: 'EdDSA', typ: 'JWT' }, claims]
  const text = parts.map((part) => encodeTextForUrl(JSON.stringify(part))).join('.')
  const signed = await crypto.subtle.sign('Ed25519', privateKey, new TextEncoder().encode(text))
  return `${text}.${encodeForUrl(new Uint8Array(signed))}`
}

/** Encodes bytes with Bitcoin's alphabet. Leading zero bytes are not handled: the prefix has none. */
function inBase58(bytes: Uint8Array): string {
  let rest = BigInt(`0x${hexOf(bytes)}`)
  let text = ''
  while (rest > 0n) {
    text = `${base58[Number(rest % 58n)]}${text}`
    rest /= 58n
  }
  return text
}
