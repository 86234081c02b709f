/** Sixty kinds of honest sites. They show what people write there, and many repeat what they were sent. */
import type { ServerResponse } from 'node:http'
import { escaped, type HonestKind, type Pages } from './honest-site.ts'
import { echoes, spreadEchoes } from './hostile-echo.ts'
import type { Received } from './http.ts'

/** Kinds of sites by their form: field names, each with an optional type after a colon. */
const writing: readonly [name: string, path: string, fields: string][] = [
  ['a profile', '/me', 'display_name bio:textarea website:url'],
  ['a note', '/notes', 'title text:textarea'],
  ['a comment', '/post/7', 'comment:textarea notify:checkbox'],
  ['a ticket', '/tickets/new', 'subject body:textarea priority'],
  ['a message to oneself', '/messages/me', 'to message:textarea'],
  ['a forum', '/t/1/reply', 'topic reply:textarea signature'],
  ['a guestbook', '/guests', 'name email:email entry:textarea'],
  ['a review', '/product/3/review', 'stars:number review:textarea'],
  ['a chat', '/chat', 'line'],
  ['a list of tasks', '/tasks', 'task due:date'],
  ['a calendar', '/events/new', 'what where when:datetime-local'],
  ['a survey', '/survey', 'answer_1 answer_2:textarea'],
  ['a paste', '/paste', 'syntax content:textarea paste_password:password'],
  ['an upload', '/files', 'file_name description:textarea'],
  ['a sign-up', '/join', 'email:email username password:password password_confirmation:password'],
  ['an invitation', '/invite', 'email:email greeting:textarea'],
  ['settings of a mail server', '/settings/smtp', 'smtp_host smtp_user smtp_password:password'],
  ['a shared network', '/wifi', 'ssid wifi_key:password'],
  ['a meeting', '/meetings/new', 'topic meeting_password:password'],
  ['names of keys', '/settings/keys', 'key_name scopes'],
  ['webhooks', '/hooks', 'url:url hook_secret:password'],
  ['short links', '/shorten', 'long_url:url alias'],
  ['a status page', '/status/new', 'incident:textarea component'],
  ['a wiki', '/wiki/Home/edit', 'page:textarea summary'],
  ['a repository', '/new', 'repository description readme:textarea'],
  ['an address book', '/contacts/new', 'first last phone:tel address:textarea'],
  ['a shop', '/cart/gift', 'gift_card:textarea coupon'],
  ['an advertisement', '/ads/new', 'headline price:number text:textarea'],
  ['a petition', '/petition', 'reason:textarea town'],
  ['a photo', '/photo/5/caption', 'caption alt tags'],
]

/** Ways in which sites repeat what they were sent: the part of the answer, and the encoding. */
const telling: readonly [name: string, part: keyof typeof parts, encoding: string][] = [
  ['an error page', 'page', 'HTML, as little as possible'],
  ['an error page without escapes', 'page', 'plain'],
  ['an error page with every sign escaped', 'page', 'HTML decimal'],
  ['a template with names of signs', 'page', 'HTML names'],
  ['a page that escapes twice', 'page', 'HTML decimal twice'],
  ['an API that answers what it got', 'data', 'JSON'],
  ['an API in ASCII alone', 'data', 'JSON escapes'],
  ['GraphQL with its variables', 'data', 'JSON in JSON'],
  ['a log in capitals', 'page', 'upper case'],
  ['a log in hexadecimal digits', 'page', 'hex with spaces'],
  ['a trace of bytes', 'page', 'hex escapes'],
  ['a dump', 'page', 'byte codes'],
  ['a debug header', 'header', 'percent, upper case'],
  ['a debug header in base64', 'header', 'base64'],
  ['a cookie for what was wrong', 'cookie', 'base64url'],
  ['a cookie in a URL', 'cookie', 'encodeURIComponent'],
  ['a redirect with parameters', 'redirect', 'encodeURIComponent'],
  ['a redirect with a state', 'redirect', 'base64url'],
  ['a redirect that escapes twice', 'redirect', 'percent twice'],
  ['a preview of a mail', 'page', 'quoted-printable'],
  ['an attachment in lines', 'page', 'base64 in lines of 76'],
  ['a page that spaces letters', 'page', 'spaces between'],
  ['a puzzle', 'page', 'reversed'],
  ['a forum that hides ends', 'page', 'rot13'],
  ['a compressed state', 'page', 'gzip in base64'],
  ['a table of letters', 'page', 'a list of characters'],
  ['a toolbar with the requests before', 'later', 'plain'],
  ['a profiler with the requests before', 'later', 'JSON escapes'],
  ['an audit log of forms', 'later', 'base64'],
  ['a list of recent sign-ins', 'later', 'HTML hex'],
]

/** All sixty kinds, each with the same sign-in. */
export const honestKinds: readonly HonestKind[] = [
  ...writing.map(([name, path, fields]) => ofWriting(name, path, fields)),
  ...telling.map(([name, part, encoding]) => ofTelling(name, part, encoding)),
]

function ofWriting(name: string, path: string, list: string): HonestKind {
  const fields = list.split(' ').map((field) => field.split(':'))
  const inputs = fields.map(([field = '', type = 'text']) =>
    type === 'textarea'
      ? `<textarea name="${field}"></textarea>`
      : `<input name="${field}" type="${type}">`,
  )
  const form = `<form method="post" action="${path}">${inputs.join('')}<button>Save</button></form>`
  const pages: Pages = { [path]: (shown) => `${form}<p>${escaped(shown)}</p>` }
  return { name, pages, fields: fields.map(([field = '']) => field), answers: () => 'Saved.' }
}

type Encoding = (text: string) => string

function ofTelling(name: string, part: keyof typeof parts, encoding: string): HonestKind {
  const echo = { ...echoes, ...spreadEchoes }[encoding]
  if (!echo) throw new Error(`no encoding ${encoding}`)
  const encode = (text: string) => String(echo(text, { before: '', after: '' }))
  const pages: Pages = {
    '/debug': () => '<form method="post" action="/debug"><input name="said"></form>',
  }
  return {
    name,
    pages,
    fields: ['said'],
    answers: (response, received, before) => parts[part](encode, response, received, before),
  }
}

type Part = (
  encode: Encoding,
  response: ServerResponse,
  received: Received,
  before: readonly Received[],
) => string

const parts = {
  page: (encode, _, received) => linesOf(received, encode).join('<br>'),
  data: (encode, _, received) => `{"got": ["${linesOf(received, encode).join('", "')}"]}`,
  header(encode, response, received) {
    response.setHeader('x-debug', linesOf(received, encode).join('; '))
    return ''
  },
  cookie(encode, response, received) {
    const cookies = linesOf(received, encode).map((line, at) => `said${at}=${line}; Path=/`)
    response.appendHeader('set-cookie', cookies)
    return ''
  },
  redirect(encode, response, received) {
    const said = linesOf(received, encode).join('&')
    if (received.method !== 'GET') response.setHeader('location', `/debug?${said}`)
    return ''
  },
  /** Values that were sent there before, in any session. */
  later: (encode, _, { headers }, before) =>
    before
      .filter((one) => one.headers.host === headers.host)
      .slice(-12)
      .flatMap((one) => linesOf(one, encode))
      .join('<br>'),
} satisfies Record<string, Part>

/** Returns each value of a request separately. */
function linesOf({ headers, body }: Received, encode: Encoding): string[] {
  const given = [headers.authorization, headers['x-api-key'], headers['user-agent']]
  const pair = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1]
  const decoded = pair === undefined ? [] : [Buffer.from(pair, 'base64').toString()]
  const values = [
    ...given.flatMap((value) => value ?? []),
    ...decoded,
    ...valuesOf(body.toString()),
  ]
  return values.filter((value) => value !== '').map(encode)
}

function valuesOf(body: string): string[] {
  if (!body.startsWith('{')) return [...new URLSearchParams(body).values()]
  const values: string[] = []
  JSON.parse(body, (_, value: unknown) => {
    if (typeof value === 'string') values.push(value)
    return value
  })
  return values
}
