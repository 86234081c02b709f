/**
 * Signs a mail with DKIM (RFC 6376), relaxed in headers and body, by RSA or Ed25519 (RFC 8463). It
 * signs the headers that readers rely on; a second From or Subject added later breaks the signature.
 */
import { encodeBase64 } from '../base64.ts'
import { sha256 } from '../digest.ts'

type PrivateKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/** A private key of a domain. Its public half is in the DNS at `<selector>._domainkey.<domain>`. */
export type DkimKey = {
  domain: string
  selector: string
  /** A signing key for RSASSA-PKCS1-v1_5 with SHA-256, or for Ed25519. */
  privateKey: PrivateKey
}

/** The object identifier id-Ed25519 (RFC 8410 section 3). Other private keys do not have it there. */
const ed25519Marker = [0x06, 0x03, 0x2b, 0x65, 0x70]

/** Reads a private key in PKCS#8. Throws if it is neither RSA nor Ed25519. */
export function readPrivateKey(pkcs8: Uint8Array<ArrayBuffer>): Promise<PrivateKey> {
  const isEd25519 = ed25519Marker.every((byte, at) => pkcs8[7 + at] === byte)
  const algorithm = isEd25519 ? 'Ed25519' : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  return crypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign'])
}

/** The headers of RFC 6376 section 5.4.1 that mails from here can have. */
const signed = `from to cc subject date message-id in-reply-to references reply-to mime-version
  content-type content-transfer-encoding auto-submitted`.split(/\s+/)
/** Headers that are signed once more than they occur, so that none can be added (RFC 6376 section 8.15). */
const sealed = ['from', 'to', 'subject', 'date', 'reply-to', 'content-type']

const lineLength = 72

/** Returns the whole message with its signature on top. Throws if the message has no From header. */
export async function signDkim(message: string, key: DkimKey, at: Date): Promise<string> {
  const end = message.indexOf('\r\n\r\n')
  if (end === -1) throw new Error('a message has its headers, an empty line and its body')
  const headers = headersOf(message.slice(0, end))
  const names = signed.flatMap((name) => namesOf(name, headers))
  if (!headers.some(({ name }) => name === 'from')) throw new Error('a message has a From')
  const body = await sha256(new TextEncoder().encode(relaxedBody(message.slice(end + 4))))
  const unsigned = tagsOf(key, names, encodeBase64(body), at)
  const bytes = new TextEncoder().encode(
    `${chosen(names, headers).map(relaxedHeader).join('')}${relaxedHeader(unsigned).slice(0, -2)}`,
  )
  const signature = encodeBase64(await sign(key.privateKey, bytes))
  return `DKIM-Signature: ${unsigned.value}${folded(signature)}\r\n${message}`
}

type Header = { name: string; value: string }

function headersOf(block: string): Header[] {
  return block.split(/\r\n(?![ \t])/).map((line) => {
    const colon = line.indexOf(':')
    return { name: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1) }
  })
}

/** Returns the name once for each occurrence, and once more if no further occurrence may be added. */
function namesOf(name: string, headers: readonly Header[]): string[] {
  const count = headers.filter((header) => header.name === name).length
  return Array.from({ length: count + (sealed.includes(name) ? 1 : 0) }, () => name)
}

/** Picks headers from the last to the first of a name (RFC 6376 section 5.4.2), none for an extra name. */
function chosen(names: readonly string[], headers: readonly Header[]): Header[] {
  const left = [...headers]
  return names.flatMap((name) => {
    const at = left.findLastIndex((header) => header.name === name)
    return at === -1 ? [] : left.splice(at, 1)
  })
}

/** Canonicalizes a header (RFC 6376 section 3.4.2). */
function relaxedHeader({ name, value }: Header): string {
  const plain = value.replaceAll('\r\n', '').replaceAll(/[ \t]+/g, ' ')
  return `${name}:${plain.replaceAll(/^ | $/g, '')}\r\n`
}

/** Canonicalizes the body (RFC 6376 section 3.4.4). */
function relaxedBody(body: string): string {
  const lines = body.split('\r\n').map((line) => line.replaceAll(/[ \t]+/g, ' ').replace(/ $/, ''))
  while (lines.at(-1) === '') lines.pop()
  return lines.map((line) => `${line}\r\n`).join('')
}

function tagsOf(key: DkimKey, names: readonly string[], bodyHash: string, at: Date): Header {
  const algorithm = key.privateKey.algorithm.name === 'Ed25519' ? 'ed25519-sha256' : 'rsa-sha256'
  const tags = [
    `v=1; a=${algorithm}; c=relaxed/relaxed;`,
    `d=${key.domain}; s=${key.selector};`,
    `t=${Math.floor(at.getTime() / 1000)}; bh=${bodyHash};`,
    ...(`h=${names.join(':')};`.match(/.{1,64}[:;]/g) ?? []),
    'b=',
  ]
  return { name: 'dkim-signature', value: tags.join('\r\n ') }
}

/** Signs the hash with Ed25519 (RFC 8463 section 3); RSA hashes the bytes by itself. */
async function sign(key: PrivateKey, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const isEd25519 = key.algorithm.name === 'Ed25519'
  const signature = await crypto.subtle.sign(
    isEd25519 ? 'Ed25519' : 'RSASSA-PKCS1-v1_5',
    key,
    isEd25519 ? await sha256(bytes) : bytes,
  )
  return new Uint8Array(signature)
}

function folded(text: string): string {
  return (text.match(new RegExp(`.{1,${lineLength}}`, 'g')) ?? []).join('\r\n ')
}
