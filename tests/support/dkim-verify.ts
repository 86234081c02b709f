/**
 * Verifies DKIM signatures by RFC 6376 section 6 with node:crypto. It is written from the RFC alone and
 * shares no code with the signer.
 */
import { createHash, type KeyObject, verify } from 'node:crypto'

/** Returns why a signature does not hold, or undefined. */
export function dkimProblem(message: string, publicKey: KeyObject): string | undefined {
  const [head = '', ...rest] = message.split('\r\n\r\n')
  const fields: string[] = []
  for (const line of head.split('\r\n')) {
    if (/^[ \t]/.test(line)) fields.push(`${fields.pop() ?? ''}\r\n${line}`)
    else fields.push(line)
  }
  const isNamed = (name: string) => (field: string) => field.toLowerCase().startsWith(`${name}:`)
  const signature = fields.find(isNamed('dkim-signature'))
  if (signature === undefined) return 'no signature'
  const tags = tagsOf(signature.slice(signature.indexOf(':') + 1))
  const body = createHash('sha256')
    .update(canonicalBody(rest.join('\r\n\r\n')))
    .digest('base64')
  if (tags.get('bh') !== body) return 'body'
  const pool = [...fields]
  const lines = (tags.get('h') ?? '').split(':').map((name) => {
    const at = pool.findLastIndex(isNamed(name.toLowerCase()))
    return at === -1 ? '' : `${canonicalHeader(pool.splice(at, 1)[0] ?? '')}\r\n`
  })
  const own = canonicalHeader(signature.replace(/([;\s]b=)[A-Za-z0-9+/=\s]*/, '$1'))
  const data = Buffer.from(lines.join('') + own)
  const value = Buffer.from(tags.get('b') ?? '', 'base64')
  const isEd25519 = tags.get('a') === 'ed25519-sha256'
  const holds = isEd25519
    ? verify(null, createHash('sha256').update(data).digest(), publicKey, value)
    : verify('sha256', data, publicKey, value)
  return holds ? undefined : 'signature'
}

function tagsOf(value: string): Map<string, string> {
  const pairs = value.split(';').map((tag) => tag.trim())
  return new Map(
    pairs
      .filter((tag) => tag.includes('='))
      .map((tag) => [
        tag.slice(0, tag.indexOf('=')).trim(),
        tag.slice(tag.indexOf('=') + 1).replaceAll(/\s/g, ''),
      ]),
  )
}

function canonicalHeader(field: string): string {
  const name = field.slice(0, field.indexOf(':')).trimEnd().toLowerCase()
  const value = field.slice(field.indexOf(':') + 1).replaceAll(/\r\n(?=[ \t])/g, '')
  return `${name}:${value.replaceAll(/[\t ]+/g, ' ').trim()}`
}

function canonicalBody(body: string): string {
  const text = body
    .replaceAll(/[\t ]+/g, ' ')
    .replaceAll(/ \r\n/g, '\r\n')
    .replace(/(\r\n)*$/, '')
  return text === '' ? '' : `${text}\r\n`
}
