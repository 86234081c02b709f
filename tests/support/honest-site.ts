/**
 * An honest site that people write to. It stores and shows whatever it is given, in all the ways sites do,
 * except values in places where a sign-in or an API expects a secret. What it shows is public: an agent can
 * read it without the service. Sites of several kinds have the same sign-in.
 */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { type Received, serverThat, type TestServer } from './http.ts'

/** Pages by path, made from what was written last and the query. */
export type Pages = Readonly<Record<string, (shown: string, query: URLSearchParams) => string>>

/** A kind of site: its pages besides the sign-in, and what its answers reveal of a request. */
export type HonestKind = {
  name: string
  pages: Pages
  /** Names of the fields there. */
  fields: readonly string[]
  answers(response: ServerResponse, received: Received, before: readonly Received[]): string
}

/** Places where the site expects a secret: method and path, with the names of fields or headers. */
const expected: Readonly<Record<string, readonly string[]>> = {
  'POST /login': ['password'],
  'POST /login/password': ['user[password]'],
  'POST /otp': ['otp'],
  'POST /confirm': ['current_password'],
  'POST /change': ['password', 'new_password'],
  'POST /api/login': ['password'],
  'GET /api/me': ['authorization', 'x-api-key'],
  'GET /basic': ['authorization'],
}

/** Pages that a member can open, by path; `shown` is what members wrote. */
const pages: Pages = {
  '/login': (_, query) => `<h1>Sign in</h1>
    <form method="post" action="/login">
      <input type="hidden" name="csrf" value="c-4711"><input type="hidden" name="next"
        value="${escaped(query.get('next') ?? '/')}">
      <label>Name <input name="username" autocomplete="username"></label>
      <label>Password <input type="password" name="password"></label>
      <input type="checkbox" name="remember" value="1"><button name="go" value="in">Sign in</button>
    </form>`,
  '/two-steps': () => `<form method="post" action="/login/name">
      <input type="email" name="user[email]" autocomplete="username"><button>Next</button></form>`,
  '/otp': () => `<form method="post" action="/otp">
      <input name="otp" autocomplete="one-time-code" inputmode="numeric"><button>Go</button></form>`,
  '/confirm': () => `<form method="post" action="/confirm"><textarea name="reason"></textarea>
      <input type="password" name="current_password" autocomplete="current-password"></form>`,
  '/profile': (shown) => `<form method="post" action="/profile"><input name="display_name">
      <textarea name="bio">${escaped(shown)}</textarea><input name="website"></form>`,
  '/note': () => '<form method="post" action="/note"><textarea name="text"></textarea></form>',
  '/comment': () => '<form method="post" action="/comment"><input name="comment"></form>',
  '/ticket': () => `<form method="post" action="/ticket"><input name="subject">
      <select name="kind"><option>Bug<option selected>Wish</select><textarea name="body"></textarea></form>`,
  '/message': () =>
    '<form method="post" action="/message"><input name="to"><input name="message"></form>',
  '/search': (_, query) =>
    `<form action="/search"><input name="q" value="${escaped(query.get('q') ?? '')}"></form>`,
  '/sign-up': () => `<form method="post" action="/sign-up"><input name="email" type="email">
      <input type="password" name="password" autocomplete="new-password"></form>`,
  '/register': () => `<form method="post" action="/register"><input name="login">
      <input type="password" name="password"><input type="password" name="password2"></form>`,
  '/change': () => `<form method="post" action="/change"><input type="password" name="password">
      <input type="password" name="new_password"></form>`,
  '/settings/mail': (shown) => `<form method="post" action="/settings/mail"><input name="host">
      <input type="password" name="smtp_password" value="${escaped(shown)}"></form>`,
  '/meeting': () => `<form method="post" action="/meeting"><input name="topic">
      <input type="password" name="meeting_password"></form>`,
  // The site's sanitizer lets members write forms.
  '/wiki': () => `<form method="post" action="/note"><input type="password" name="text"></form>`,
  '/wiki/search': () => '<form action="/search"><input type="password" name="password"></form>',
  '/wiki/elsewhere': () =>
    '<form method="post" action="https://evil.example/in"><input type="password" name="password"></form>',
  '/wiki/plain': () =>
    '<form method="post" action="/note" enctype="text/plain"><input type="password" name="password"></form>',
  '/wiki/code': () =>
    '<form method="post" action="/note"><input name="text" autocomplete="one-time-code"></form>',
  '/wiki/quoted': () => `<textarea><form method="post" action="/note"><input type="password"
      name="password"></form></textarea><!-- <form method="post" action="/note"><input type="password"
      name="password"></form> --><script>"<form method='post' action='/note'><input type='password'></form>"</script>`,
}

/** Paths that answer with something other than a page. */
const others: Readonly<Record<string, [number, Record<string, string>]>> = {
  '/raw/page.txt': [200, { 'content-type': 'text/plain' }],
  '/raw/page.json': [200, { 'content-type': 'application/json' }],
  '/raw/page.html': [200, { 'content-type': 'text/html', 'content-disposition': 'attachment' }],
  '/raw/boxed.html': [200, { 'content-type': 'text/html', 'content-security-policy': 'sandbox' }],
  '/moved': [307, { location: '/note' }],
  '/away': [302, { location: 'https://evil.example/' }],
}

export type HonestSite = TestServer & {
  origin: string
  /** All paths of the site. */
  paths: readonly string[]
  fields: readonly string[]
  /** Returns everything that anyone can read there. */
  shown(): string
}

/** The default kind: all usual pages, which repeat what was written to them. */
const model: HonestKind = {
  name: 'the model',
  pages: {},
  fields: ['bio', 'text', 'comment', 'message', 'q', 'display_name'],
  answers(response, received) {
    response.setHeader('x-debug', JSON.stringify(received.headers))
    return received.method === 'GET' ? '' : `You sent ${escaped(received.body.toString())}`
  },
}

/** Opens a site of this kind. */
export async function openHonestSite(kind = model): Promise<HonestSite> {
  const shown: string[] = []
  const before: Received[] = []
  const server = await serverThat((response, received) => {
    answer(response, received, { shown, before, kind })
    before.push(received)
  })
  return {
    ...server,
    origin: new URL(server.url).origin,
    paths: [...honestPaths, ...Object.keys(kind.pages)],
    fields: kind.fields,
    shown: () => shown.join('\n'),
  }
}

type Telling = { shown: string[]; before: Received[]; kind: HonestKind }

/** Paths of all pages and other answers. */
export const honestPaths = [...Object.keys(pages), ...Object.keys(others)]

function answer(response: ServerResponse, received: Received, telling: Telling) {
  const { shown, before, kind } = telling
  const { pathname, searchParams } = new URL(received.url, 'http://site')
  const secretNames = expected[`${received.method} ${pathname}`] ?? []
  const said = unexpected(received, secretNames).map(withoutOwn)
  shown.push(...said)
  const other = others[pathname]
  if (other) {
    response.writeHead(other[0], other[1]).end(loginForm)
    return
  }
  response.setHeader('set-cookie', `sid=${shown.length}; Path=/; HttpOnly`)
  if (received.method === 'POST' && pathname === '/login/name') {
    respond(
      response,
      `<form method="post" action="/login/password"><input name="user[name]">
      <input type="password" name="user[password]"></form>`,
    )
    return
  }
  const page = kind.pages[pathname] ?? pages[pathname]
  const status = page || received.method !== 'GET' ? 200 : 404
  const told = kind.answers(response, received, before)
  respond(response, `${page?.(shown.at(-1) ?? '', searchParams) ?? ''}<p>${told}</p>`, status)
}

const loginForm =
  '<form method="post" action="/note"><input type="password" name="password"></form>'

function respond(response: ServerResponse, html: string, status = 200) {
  const isMoved = response.hasHeader('location')
  response.writeHead(isMoved ? 302 : status, { 'content-type': 'text/html; charset=utf-8' })
  response.end(`<!doctype html><title>Site</title>${html}`)
}

/** Returns the values of a request other than the secrets that are expected there. */
function unexpected({ method, url, headers, body }: Received, names: readonly string[]): string[] {
  const rest = headersOf(headers).filter(([name]) => !names.includes(name))
  const text = body.toString()
  return [method, url, ...rest.map((pair) => pair.join(': ')), ...bodyOf(text, headers, names)]
}

/** Removes what the site itself had put into a cookie or a redirect. */
function withoutOwn(text: string): string {
  return text.replaceAll(/said[0-9]+=[^;]*/g, '').replaceAll(/\/debug\?\S*/g, '/debug')
}

function headersOf(headers: IncomingHttpHeaders): [string, string][] {
  return Object.entries(headers).map(([name, value]) => [name, String(value)])
}

function bodyOf(text: string, headers: IncomingHttpHeaders, names: readonly string[]): string[] {
  const type = headers['content-type'] ?? ''
  if (names.length === 0) return [text, decodeURIComponent(text.replaceAll('+', ' '))]
  if (type.startsWith('application/json')) {
    const kept = JSON.stringify(JSON.parse(text), (name, value: unknown) =>
      names.includes(name) ? undefined : value,
    )
    return [kept]
  }
  return [...new URLSearchParams(text)].flatMap(([name, value]) =>
    names.includes(name) ? [] : [`${name}=${value}`],
  )
}

/** Escapes a text for HTML. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
