/**
 * Signs a mail with DKIM (RFC 6376), relaxed in headers and body, by RSA or Ed25519 (RFC 8463). What
 * is signed is what a reader goes by; a second From, Subject or the like put in later breaks it.
 */
import { encodeBase64 } from '../base64.ts'
import { sha256 } from '../digest.ts'

type PrivateKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/** A private key of a domain; its public half is in the DNS at `<selector>._domainkey.<domain>`. */
export type DkimKey = {
  domain: string
  selector: string
  /** Of RSASSA-PKCS1-v1_5 with SHA-256, or of Ed25519, for signing. */
  privateKey: PrivateKey
}

/** RFC 8410 section 3: id-Ed25519, which a private key of another kind does not hold there. */
const ed25519Marker = [0x06, 0x03, 0x2b, 0x65, 0x70]

/** Reads a private key in PKCS#8; throws when it is neither RSA nor Ed25519. */
export function readPrivateKey(pkcs8: Uint8Array<ArrayBuffer>): Promise<PrivateKey> {
  const isEd25519 = ed25519Marker.every((byte, at) => pkcs8[7 + at] === byte)
  const algorithm = isEd25519 ? 'Ed25519' : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  return crypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign'])
}

/** RFC 6376 section 5.4.1, as far as mails from here have them. */
const signed = `from to cc subject date message-id in-reply-to references reply-to mime-version
  content-type content-transfer-encoding auto-submitted`.split(/\s+/)
/** Named once more than they are there, so none can be added (RFC 6376 section 8.15). */
const sealed = ['from', 'to', 'subject', 'date', 'reply-to', 'content-type']

const lineLength = 72

/** The whole message with its signature on top; throws for a message without From. */
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

/** A name for each time that it is there, and for one time that it shall not be. */
function namesOf(name: string, headers: readonly Header[]): string[] {
  const count = headers.filter((header) => header.name === name).length
  return Array.from({ length: count + (sealed.includes(name) ? 1 : 0) }, () => name)
}

/** RFC 6376 section 5.4.2: of several with a name the last comes first; one too many is nothing. */
function chosen(names: readonly string[], headers: readonly Header[]): Header[] {
  const left = [...headers]
  return names.flatMap((name) => {
    const at = left.findLastIndex((header) => header.name === name)
    return at === -1 ? [] : left.splice(at, 1)
  })
}

/** RFC 6376 section 3.4.2. */
function relaxedHeader({ name, value }: Header): string {
  const plain = value.replaceAll('\r\n', '').replaceAll(/[ \t]+/g, ' ')
  return `${name}:${plain.replaceAll(/^ | $/g, '')}\r\n`
}

/** RFC 6376 section 3.4.4. */
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

/** RFC 8463 section 3: Ed25519 signs the hash, where RSA hashes by itself. */
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
