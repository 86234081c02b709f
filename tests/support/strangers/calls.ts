/** Input that callers without an account can send: requests, forms and mails, drawn from a seed. */
import { webFunction } from '../../../functions/web/app.tsx'
import { pages } from '../../../functions/web/index.ts'
import type { Described } from '../fuzz/described.ts'
import { requestOf } from '../fuzz/requests.ts'
import { hostileTexts } from '../fuzz/texts.ts'
import { chance, oneOf } from '../fuzz/values.ts'
import type { Random } from '../seed.ts'

export type Call = { folder: string; path: string; init: RequestInit & { method: string } }

/** NUL, halves of surrogate pairs and invalid UTF-8, as a URL or a form can carry them. */
const escapes = ['%00', '%ED%A0%80', '%ED%BF%BF', '%FF', '%', '%%0000', '%u0000', '+', '%F0%9F%90']
/** Names with a meaning to some form or endpoint. */
const names = [
  ...'email code password answer next label scope limit amount app wanted decision level payment'.split(
    ' ',
  ),
  ...'address device passkey session site username fields deed solution form more'.split(' '),
  ...'grant_type client_id client_secret redirect_uri code_verifier refresh_token token'.split(' '),
] as const
const meanings = [
  'a@b.example',
  '482913',
  'authorization_code',
  'refresh_token',
  'https://app.example/client',
  'http://127.0.0.1/back',
  '/web/login',
  'aoa_live_000000000000000000000000000000000000',
  '{"id":"a","rawId":"a","type":"public-key","response":{}}',
] as const
const formToken = 'a'.repeat(64)
const form = 'application/x-www-form-urlencoded'

function valueOf(random: Random): string {
  if (chance(random, 40)) return encodeURIComponent(oneOf(random, meanings))
  if (chance(random, 50)) return `${oneOf(random, escapes)}a${oneOf(random, escapes)}`
  return encodeURIComponent(oneOf(random, hostileTexts).toWellFormed())
}

function fieldsOf(random: Random, most: number): string {
  const count = random.between(0, most)
  return Array.from({ length: count }, () => {
    const name = chance(random, 95) ? oneOf(random, names) : valueOf(random)
    return `${name}=${valueOf(random)}`
  }).join('&')
}

/** Returns an address from a network of its own for each caller. */
function clientOf(random: Random): string {
  return `2001:${random.between(1, 65_535).toString(16)}:${random.between(0, 65_535).toString(16)}::1`
}

const { app } = webFunction(pages)
const addresses = [...new Set(app.routes.map(({ path }) => path))]
  .map((path) => path.replace(/\*$/, ''))
  .filter((path) => path.startsWith('/web'))
const endpoints = ['/oauth/token', '/oauth/revoke', '/oauth/register', '/oauth/none'] as const

function pageCall(random: Random): Call {
  const path = (oneOf(random, addresses) ?? '/web').replaceAll(/:[^/]+/g, () => valueOf(random))
  const headers = new Headers({ 'cf-connecting-ip': clientOf(random), origin: 'http://localhost' })
  const cookie = chance(random, 80) ? `__Host-aoa_form=${formToken}` : oddCookie(random)
  headers.set('cookie', cookie)
  const query = chance(random, 40) ? `?${fieldsOf(random, 3)}` : ''
  if (chance(random, 40))
    return { folder: 'web', path: path + query, init: { method: 'GET', headers } }
  headers.set('content-type', form)
  const body = `form=${formToken}&${fieldsOf(random, 5)}`
  return { folder: 'web', path: path + query, init: { method: 'POST', headers, body } }
}

/** Returns a cookie with raw bytes, which a header may hold (RFC 9110 section 5.5), one per character. */
function oddCookie(random: Random): string {
  const byte = String.fromCharCode(random.between(128, 255))
  return `__Host-aoa_session=${valueOf(random)}${byte}; __Host-aoa_form=${byte}`
}

function oauthCall(random: Random): Call {
  const headers = new Headers({ 'cf-connecting-ip': clientOf(random) })
  const path = oneOf(random, endpoints)
  const isJson = path === '/oauth/register' && chance(random, 80)
  headers.set('content-type', isJson ? 'application/json' : form)
  const uris = [chance(random, 50) ? 'https://app.example/back' : oneOf(random, hostileTexts)]
  const told = { redirect_uris: uris, client_name: oneOf(random, hostileTexts) }
  const body = isJson ? JSON.stringify(told) : fieldsOf(random, 6)
  return { folder: 'oauth', path, init: { method: 'POST', headers, body } }
}

/** Draws one call: of an operation without a valid token, to a page or to an OAuth endpoint. */
export function callOf(
  operations: readonly [Described, ...Described[]],
  bad: readonly string[],
  random: Random,
): Call {
  const kind = random.between(1, 100)
  if (kind <= 35) return pageCall(random)
  if (kind <= 50) return oauthCall(random)
  const { path, init } = requestOf(
    oneOf(random, operations),
    { good: bad, bad },
    {
      random,
      seen: () => undefined,
    },
  )
  init.headers.set('cf-connecting-ip', clientOf(random))
  return { folder: path.split(/[/?%;.]/)[1] ?? '', path, init }
}

/** Draws a mail of pieces that have a meaning to a mail parser. */
export function mailOf(random: Random): { from: string; raw: string } {
  const pieces = Array.from({ length: random.between(0, 12) }, () => oneOf(random, mailPieces))
  const author = chance(random, 90) ? `a${random.between(1, 1e6)}@mail.example` : '<>'
  return { from: author, raw: `From: ${author}\r\n${pieces.join('')}` }
}

const mailPieces = [
  ...hostileTexts.slice(0, 16),
  '\r\n',
  '\r\n\r\n',
  'Subject: Your code is 482913\r\n',
  'Content-Type: text/html; charset=utf-8\r\n\r\n',
  'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n',
  '--b\r\n\r\n',
  '--b--',
  '=?utf-8?q?=ED=A0=80=00?=',
  'Your code is 482913.\r\n',
  '<p style="display:none">&#0;&#xd800;',
  'Content-Disposition: attachment; filename="\ud800"\r\n',
  'To: a@b.example, <c@d.example>\r\n',
] as const
