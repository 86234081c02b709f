/**
 * Ways in which a server may transform a secret before it sends it back. They are written with Node's own
 * means and without a look at the scrubber, so that neither inherits the other's mistakes.
 */
import { deflateSync, gzipSync } from 'node:zlib'

/** Returns the body of an answer. `around` is the text around the secret, encoded with it or not. */
type Echo = (secret: string, around: { before: string; after: string }) => string | Buffer

const bytesOf = (text: string) => [...Buffer.from(text)]
const charactersOf = (text: string) => Array.from(text)
const unitsOf = (text: string) =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
const hexOf = (number: number, digits: number) => number.toString(16).padStart(digits, '0')
const reverse = (text: string) => charactersOf(text).reverse().join('')
const percent = (text: string) =>
  bytesOf(text)
    .map((byte) => `%${hexOf(byte, 2)}`)
    .join('')
const base64 = (text: string) => Buffer.from(text).toString('base64')
const hex = (text: string) => Buffer.from(text).toString('hex')
const json = (text: string) => JSON.stringify(text).slice(1, -1)
const formOf = (text: string) => new URLSearchParams({ user: 'ada', password: text }).toString()
const everyOther = (text: string, encode: (one: string) => string) =>
  charactersOf(text)
    .map((one, at) => (at % 2 === 0 ? encode(one) : one))
    .join('')
const unicode = (text: string) =>
  unitsOf(text)
    .map((unit) => `\\u${hexOf(unit, 4)}`)
    .join('')
const decimalEntities = (text: string) =>
  charactersOf(text)
    .map((one) => `&#${one.codePointAt(0)};`)
    .join('')
const names = new Map([
  ...Object.entries({ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos', '#': 'num' }),
  ...Object.entries({
    '!': 'excl',
    $: 'dollar',
    '%': 'percnt',
    '(': 'lpar',
    ')': 'rpar',
    '*': 'ast',
  }),
  ...Object.entries({ '+': 'plus', ',': 'comma', '.': 'period', '/': 'sol', ':': 'colon' }),
  ...Object.entries({ ';': 'semi', '=': 'equals', '?': 'quest', '@': 'commat', '[': 'lsqb' }),
  ...Object.entries({ ']': 'rsqb', '\\': 'bsol', '^': 'Hat', _: 'lowbar', '`': 'grave' }),
  ...Object.entries({ '{': 'lcub', '|': 'verbar', '}': 'rcub', é: 'eacute', ñ: 'ntilde' }),
])
const htmlNamed = (text: string) =>
  charactersOf(text)
    .map((one) => (names.has(one) ? `&${names.get(one)};` : one))
    .join('')
const printable = (encode: (byte: number) => boolean) => (text: string) =>
  bytesOf(text)
    .map((byte) => (encode(byte) ? `=${hexOf(byte, 2).toUpperCase()}` : String.fromCharCode(byte)))
    .join('')
const wrapped = (text: string, columns: number, by: string) =>
  (text.match(new RegExp(`[^]{1,${columns}}`, 'g')) ?? []).join(by)
const swapBytes = (text: string) => Buffer.from(text, 'utf16le').swap16()
const rot13 = (text: string) =>
  text.replace(/[a-z]/gi, (letter) => {
    const base = letter < 'a' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
  })
const base32 = (text: string) => {
  const bits = bytesOf(text)
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')
  return (bits.match(/.{1,5}/g) ?? [])
    .map((group) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(group.padEnd(5, '0'), 2)])
    .join('')
}

/** Encodes the secret alone and leaves the text around it. */
const beside =
  (encode: (secret: string) => string): Echo =>
  (secret, { before, after }) =>
    before + encode(secret) + after

/** Encodes everything together. */
const within =
  (encode: (text: string) => string | Buffer): Echo =>
  (secret, { before, after }) =>
    encode(before + secret + after)

/** Echoes of a secret, which differ in how they encode it. */
export const echoes: Record<string, Echo> = {
  plain: beside((s) => s),
  'percent, lower case': beside(percent),
  'percent, upper case': beside((s) => percent(s).toUpperCase()),
  'percent, every other case': beside((s) => everyOther(percent(s), (one) => one.toUpperCase())),
  'percent, every other character': beside((s) => everyOther(s, percent)),
  encodeURIComponent: beside(encodeURIComponent),
  encodeURI: beside(encodeURI),
  'a form': within((s) => new URLSearchParams({ s }).toString()),
  'percent twice': beside((s) => encodeURIComponent(percent(s))),
  'encodeURIComponent three times': beside((s) =>
    encodeURIComponent(encodeURIComponent(encodeURIComponent(s))),
  ),
  base64: within(base64),
  'base64 alone': beside(base64),
  base64url: within((s) => Buffer.from(s).toString('base64url')),
  'base64 in lines of 76': within((s) => wrapped(base64(s), 76, '\r\n')),
  'base64 in lines of 4': within((s) => wrapped(base64(s), 4, '\n')),
  'base64 in JSON lines': within((s) => json(wrapped(base64(s), 19, '\n')).replaceAll('/', '\\/')),
  'base64 in a URL': within((s) => encodeURIComponent(base64(s))),
  'base64 twice': within((s) => base64(base64(s))),
  'base64 of UTF-16': within((s) => Buffer.from(s, 'utf16le').toString('base64')),
  'base64 of UTF-16, big end first': within((s) => swapBytes(s).toString('base64')),
  'base64 of the reverse': within((s) => base64(reverse(s))),
  'base64 reversed': within((s) => reverse(base64(s))),
  base32: within(base32),
  'base32, lower case': within((s) => base32(s).toLowerCase()),
  'hex, lower case': within(hex),
  'hex, upper case': within((s) => hex(s).toUpperCase()),
  'hex with spaces': within((s) => wrapped(hex(s), 2, ' ')),
  'hex with colons': within((s) => wrapped(hex(s).toUpperCase(), 2, ':')),
  'hex in groups and lines': within((s) => wrapped(wrapped(hex(s), 4, ' '), 40, '\n')),
  'hex as a list': within((s) =>
    bytesOf(s)
      .map((byte) => `0x${hexOf(byte, 2)}`)
      .join(', '),
  ),
  'hex escapes': within((s) =>
    bytesOf(s)
      .map((byte) => `\\x${hexOf(byte, 2)}`)
      .join(''),
  ),
  'hex reversed': within((s) => reverse(hex(s))),
  'hex of the reverse': within((s) => hex(reverse(s))),
  'hex of UTF-16': within((s) => Buffer.from(s, 'utf16le').toString('hex')),
  'octal escapes': beside((s) =>
    bytesOf(s)
      .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
      .join(''),
  ),
  'character codes': beside((s) => ` [${unitsOf(s).join(', ')}] `),
  'byte codes': beside((s) => ` ${bytesOf(s).join(' ')} `),
  binary: within((s) =>
    bytesOf(s)
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join(''),
  ),
  JSON: beside(json),
  'JSON in JSON': beside((s) => json(json(s))),
  'JSON in JSON in JSON': beside((s) => json(json(json(s)))),
  'JSON escapes': beside(unicode),
  'JSON escapes, upper case': beside((s) => unicode(s).toUpperCase().replaceAll('\\U', '\\u')),
  'JSON escapes in JSON': beside((s) => json(unicode(s))),
  'JSON escapes, every other character': beside((s) => everyOther(s, unicode)),
  'JavaScript escapes': beside((s) =>
    charactersOf(s)
      .map((one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)
      .join(''),
  ),
  'Python escapes': beside((s) =>
    charactersOf(s)
      .map((one) => `\\U${hexOf(one.codePointAt(0) ?? 0, 8)}`)
      .join(''),
  ),
  escape: beside((s) =>
    unitsOf(s)
      .map((unit) => `%u${hexOf(unit, 4)}`)
      .join(''),
  ),
  'HTML, as little as possible': beside((s) =>
    s.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
  ),
  'HTML names': beside(htmlNamed),
  'HTML names twice': beside((s) => htmlNamed(s).replaceAll('&', '&amp;')),
  'HTML decimal': beside(decimalEntities),
  'HTML decimal without semicolons': beside((s) => `${decimalEntities(s).replaceAll(';', '')};`),
  'HTML decimal twice': beside((s) => decimalEntities(s).replaceAll('&', '&amp;')),
  'HTML hex': beside((s) =>
    charactersOf(s)
      .map((one) => `&#x${hexOf(one.codePointAt(0) ?? 0, 6).toUpperCase()};`)
      .join(''),
  ),
  'HTML, every other character': beside((s) => everyOther(s, decimalEntities)),
  'quoted-printable': beside(printable((byte) => byte > 126 || byte < 33 || byte === 61)),
  'quoted-printable, all': beside(printable(() => true)),
  'quoted-printable in lines': beside((s) => wrapped(s, 5, '=\r\n')),
  reversed: beside(reverse),
  'reversed and percent': beside((s) => percent(reverse(s))),
  'upper case': beside((s) => s.toUpperCase()),
  'lower case': beside((s) => s.toLowerCase()),
  'every other case': beside((s) => everyOther(s.toLowerCase(), (one) => one.toUpperCase())),
  rot13: beside(rot13),
  'full width': beside((s) =>
    s.replace(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)),
  ),
  'decomposed characters': beside((s) => s.normalize('NFD')),
  'zero width between': beside((s) => charactersOf(s).join('\u200b')),
  'UTF-16 with a mark': within((s) => Buffer.from(`\ufeff${s}`, 'utf16le')),
  'UTF-16, big end first': within((s) => swapBytes(`\ufeff${s}`)),
  'the form in base64': within((s) => base64(formOf(s))),
  'the form in hex': within((s) => hex(formOf(s))),
  'the form in JSON in base64': within((s) => base64(JSON.stringify({ body: formOf(s) }))),
  'the form in base32': within((s) => base32(formOf(s))),
  'JSON of Python in base64': within((s) => base64(json(s).replaceAll(/[^ -~]/g, unicode))),
  'JSON of Go in base64': within((s) => base64(json(s).replaceAll(/[<>&]/g, unicode))),
  'markup in base64': within((s) =>
    base64(s.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll("'", '&#x27;')),
  ),
  'base64 three times': within((s) => base64(base64(base64(s)))),
  'hex in base64': within((s) => base64(hex(s))),
  'lower case in base64': within((s) => base64(s.toLowerCase())),
  'gzip in base64': within((s) => gzipSync(s).toString('base64')),
  'gzip in hex': within((s) => gzipSync(s).toString('hex')),
  'zlib in base64url': within((s) => deflateSync(s).toString('base64url')),
  'zlib of base64': within((s) => deflateSync(base64(s), { level: 9 }).toString('base64')),
}

/** Echoes with other text between the characters of a secret. */
export const spreadEchoes: Record<string, Echo> = {
  'spaces between': beside((s) => charactersOf(s).join(' ')),
  'dashes between': beside((s) => charactersOf(s).join('-')),
  'a line each': beside((s) => charactersOf(s).join('\r\n')),
  'a list of characters': beside((s) => JSON.stringify(charactersOf(s))),
  'an indented list': beside((s) => JSON.stringify(charactersOf(s), null, 4)),
  'tags between': beside((s) => charactersOf(s).join('</b><b>')),
  'comments between': beside((s) => charactersOf(s).join('<!-- x -->')),
  'escaped lines': beside((s) => charactersOf(s).join('\\n')),
}

/** Names of the echoes that are removed from the answer to an API key. */
export const removedEchoes = (
  'plain|percent, lower case|percent, upper case|percent, every other character|encodeURIComponent|' +
  'encodeURI|a form|percent twice|base64|base64 alone|base64url|base64 in a URL|hex, lower case|' +
  'hex, upper case|JSON|JSON escapes|JSON escapes, upper case|JSON escapes, every other character|' +
  'HTML decimal|HTML, as little as possible|HTML decimal twice|HTML hex|HTML, every other character|' +
  'upper case|lower case'
).split('|')
