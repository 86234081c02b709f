/** Every parser of text that a stranger can write, as a function of one text. */
import { createHash } from 'node:crypto'
import { returnPathOf } from '../../../functions/web/visit.ts'
import { isToken } from '../../../shared/auth/api-key.ts'
import { decodeText, parseJson } from '../../../shared/base64.ts'
import { checkUrl } from '../../../shared/egress/safe-fetch.ts'
import { formTokenOf } from '../../../shared/http/browser.ts'
import { formFieldsIn } from '../../../shared/http/input.ts'
import { canonicalEmail, isAddress } from '../../../shared/mail/address.ts'
import { codeHosts } from '../../../shared/mailbox/codes/code-links.ts'
import { htmlText } from '../../../shared/mailbox/html/html-text.ts'
import { authenticationOf } from '../../../shared/mailbox/receive/authentication.ts'
import { markCodes } from '../../../shared/mailbox/receive/mark-codes.ts'
import { parseHead, parseMail } from '../../../shared/mailbox/receive/parse.ts'
import { canonicalDomain } from '../../../shared/mandates/merchant-domain.ts'
import { sentMetadata } from '../../../shared/oauth/client-metadata.ts'
import { isRedirectUri } from '../../../shared/oauth/redirect-uri.ts'
import { visibleLine, visibleText } from '../../../shared/text/untrusted.ts'
import { readTotp } from '../../../shared/vault/entries/totp.ts'
import { redactorFor } from '../../../shared/vault/scrub.ts'
import { formsOf } from '../../../shared/vault/sign-in/forms.ts'
import { readChallenge, readChallengeHeader } from '../../../shared/x402/challenge.ts'
import { readAuthChallenges } from '../../../shared/x402/mpp.ts'
import { readUnsupportedSchemes } from '../../../shared/x402/offers.ts'

export type Parser = {
  name: string
  /** Most characters that a stranger can send. */
  most: number
  read(text: string): unknown
}

const megabyte = 1024 * 1024
const here = { allowLoopback: false }
const page = new URL('https://www.example.com/login')

const searched = ['aaaaaaaaaaaaaaaaaaaa1', 'a'.repeat(2_000), 'Xk9#mQ2!vT', 'correct horse']
const redact = redactorFor([...searched, '7'.repeat(30)])

/** Deterministic bytes in place of random ones: sealing takes the same work for every handle. */
const plain = {
  randomBytes: (length: number) =>
    new Uint8Array(createHash('sha512').update(`${length}`).digest().subarray(0, length)),
}

async function readMail(head: string, body: string): Promise<unknown> {
  const raw = Buffer.from(`From: a@b.example\r\nSubject: Your code\r\n${head}\r\n\r\n${body}`)
  const mail = await parseMail(new Uint8Array(raw.subarray(0, megabyte)))
  return 'refused' in mail ? mail : markCodes(plain, mail)
}

/** Reads a text as both bodies of a mail, half of its length each. */
function readBothBodies(text: string): Promise<unknown> {
  const body = text.slice(0, text.length / 2)
  const parts = ['plain', 'html'].map(
    (type) => `--b\r\nContent-Type: text/${type}\r\n\r\n${body}\r\n`,
  )
  return readMail('Content-Type: multipart/alternative; boundary=b', `${parts.join('')}--b--`)
}

async function readHead(header: string): Promise<unknown> {
  const head = await parseHead(new Uint8Array(Buffer.from(`${header}\r\n\r\n`)))
  if ('refused' in head) return head
  return authenticationOf(head.headers, { trustedServer: 'mx.example', author: 'a@b.example' })
}

const oneLine = (text: string) => text.replaceAll(/[\r\n]+/g, ' ')

export const parsers: readonly Parser[] = [
  ...[
    ['text', 'Content-Type: text/plain; charset=utf-8'],
    ['HTML', 'Content-Type: text/html; charset=utf-8'],
    ['a quoted text', 'Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable'],
    ['parts', 'Content-Type: multipart/mixed; boundary=b'],
    ['a file', 'Content-Type: text/html; name=a\r\nContent-Disposition: attachment'],
  ].map(([name = '', head = '']) => ({
    name: `a mail with ${name}`,
    most: megabyte - 1024,
    read: (text: string) => readMail(head, text),
  })),
  { name: 'a mail with both bodies', most: megabyte / 2, read: readBothBodies },
  ...[
    'From',
    'To',
    'Cc',
    'Reply-To',
    'Subject',
    'References',
    'Content-Type',
    'Authentication-Results',
    'X',
  ].map((name) => ({
    name: `the header ${name}`,
    most: 126 * 1024,
    read: (text: string) =>
      readHead(
        `${name === 'From' ? '' : 'From: a@b.example\r\n'}${name}: mx.example; ${oneLine(text)}`,
      ),
  })),
  { name: 'headers', most: 126 * 1024, read: (text) => readHead(text) },
  { name: 'HTML', most: megabyte, read: (text) => htmlText(text) },
  { name: 'visible text', most: megabyte, read: (text) => visibleText(text) },
  { name: 'a visible line', most: megabyte, read: (text) => visibleLine(text) },
  {
    name: 'hosts of codes',
    most: megabyte,
    read: (text) => codeHosts({ from: 'a@b.example', provenDomain: 'b.example' }, [text]),
  },
  {
    name: 'a page with forms',
    most: 256 * 1024,
    read: (text) => formsOf(`<form action=/a>${text}`, page, new Headers()),
  },
  {
    name: 'an answer that may hold secrets',
    most: 256 * 1024,
    read: redact,
  },
  { name: 'challenges', most: megabyte, read: (text) => readAuthChallenges(text) },
  {
    name: 'challenges of other schemes',
    most: 64 * 1024,
    read: (text) =>
      readUnsupportedSchemes(readAuthChallenges(`L402 invoice="${text}"`), new Headers()),
  },
  { name: 'a challenge in a header', most: megabyte, read: (text) => readChallengeHeader(text) },
  {
    name: 'a challenge',
    most: megabyte,
    read: (text) => readChallenge({ x402Version: 2, accepts: [{ a: text }], error: text }),
  },
  {
    name: 'a document of a client',
    most: megabyte,
    read: (text) => sentMetadata.safeParse(parseJson(`{"redirect_uris":["${text}"]}`)),
  },
  { name: 'an address to go back to', most: megabyte, read: (text) => isRedirectUri(text) },
  { name: 'a way back', most: megabyte, read: (text) => returnPathOf(`/web/${text}`) },
  { name: 'an address to fetch', most: megabyte, read: (text) => checkUrl(text, here) },
  { name: 'a merchant', most: megabyte, read: (text) => canonicalDomain(text, here) },
  { name: 'a mail address', most: megabyte, read: (text) => isAddress(canonicalEmail(text)) },
  { name: 'base64', most: megabyte, read: (text) => decodeText(text) },
  { name: 'JSON', most: megabyte, read: (text) => parseJson(text) },
  { name: 'a form', most: megabyte, read: (text) => formFieldsIn(text).get('form') },
  { name: 'a token', most: megabyte, read: (text) => isToken('aoa_live_', text) },
  { name: 'a secret of TOTP', most: megabyte, read: (text) => readTotp(text) },
  {
    name: 'cookies',
    most: 64 * 1024,
    read: (text) => formTokenOf(new Headers({ cookie: oneLine(text).replaceAll(/[^ -~]/g, 'x') })),
  },
]
