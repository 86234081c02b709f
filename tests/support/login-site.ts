/**
 * A realistic site with one account. It admits only a form with its own token, the right password, and a
 * code if it asks for one.
 */
import type { ServerResponse } from 'node:http'
import { type Received, serverThat, type TestServer } from './http.ts'
import { randomBytes } from './seed.ts'

/** HTML of its pages; `{csrf}` in a form stands for the token's field. */
export type LoginPages = {
  /** The complete form on /login. */
  login: string
  /** Names of its fields; all other fields must be sent back as the page had them. */
  user?: string
  password?: string
  /** The complete second page of a sign-in in two steps. */
  next?: string
  /** The complete page that asks for a code, and the name of its field. */
  code?: { form: string; name: string }
  /** Path that the form leads to, instead of /login. */
  action?: string
  /** Status of the redirects. */
  status?: number
}

export type Account = { username: string; password: string; code?: () => string }

export type LoginSite = TestServer & {
  origin: string
  account: Account
  /** Number of successful sign-ins. */
  welcomed: number
}

type State = { site: LoginSite; pages: LoginPages; tokens: Map<string, string>; marks: Set<string> }

/** Opens the site with one account. */
export async function openLoginSite(pages: LoginPages, account: Account): Promise<LoginSite> {
  const server = await serverThat((response, received) => answer(state, response, received))
  const origin = new URL(server.url).origin
  const site: LoginSite = {
    ...server,
    origin,
    account: { ...account },
    welcomed: 0,
  }
  const state: State = { site, pages, tokens: new Map(), marks: new Set() }
  return site
}

function answer(state: State, response: ServerResponse, received: Received): void {
  const { pages } = state
  const { pathname } = new URL(received.url, 'http://site')
  const of = received.method === 'GET' ? shows : takes
  const path = pathname.replace(/;.*$/, '')
  const act = of[path === pages.action ? '/login' : path]
  if (!act) response.writeHead(404).end('No such page.')
  else if (received.method === 'POST' && !isOwnForm(state, received)) show(state, response, 403, '')
  else act(state, response, received, pages)
}

type Act = (state: State, response: ServerResponse, received: Received, pages: LoginPages) => void

const shows: Readonly<Record<string, Act>> = {
  '/login': (state, response, _, { login }) => show(state, response, 200, login),
  '/next': (state, response, _, { next = '' }) => show(state, response, 200, next),
  '/code': (state, response, _, { code }) => show(state, response, 200, code?.form ?? ''),
  '/home': (state, response, received) => {
    if (isIn(state, received)) show(state, response, 200, `Welcome ${state.site.account.username}`)
    else lead(state, response, '/login')
  },
}

const takes: Readonly<Record<string, Act>> = {
  '/login': (state, response, received, { login, next, code, ...names }) => {
    const { account } = state.site
    const sent = formOf(received)
    const { user = 'username', password = 'password' } = names
    if (sent.get(user) !== account.username) show(state, response, 401, login)
    else if (next !== undefined) lead(state, response, '/next', mark(state, 'half'))
    else if (sent.get(password) !== account.password) show(state, response, 401, login)
    else if (code) lead(state, response, '/code', mark(state, 'half'))
    else welcome(state, response)
  },
  '/next': (state, response, received, { next = '', code, password = 'password' }) => {
    const isRight = formOf(received).get(password) === state.site.account.password
    if (!isRight || !has(state, received, 'half')) show(state, response, 401, next)
    else if (code) lead(state, response, '/code')
    else welcome(state, response)
  },
  '/code': (state, response, received, { code }) => {
    const isRight =
      formOf(received)
        .getAll(code?.name ?? '')
        .join('') === state.site.account.code?.()
    if (isRight && has(state, received, 'half')) welcome(state, response)
    else show(state, response, 401, code?.form ?? '')
  },
}

/** Fields that only programs fill in. */
const traps = ['email', 'website', 'fakepassword', 'hiddenPassword', 'required_field_5b12']

/** Decides whether a form is the site's own: it comes from its origin, with the token of its page. */
function isOwnForm({ site, tokens, pages }: State, received: Received): boolean {
  const { headers } = received
  const token = tokens.get(cookiesOf(received).get('pre') ?? '')
  const isGuarded = Object.values(pages).some((page) => JSON.stringify(page).includes('{csrf}'))
  const sent = formOf(received)
  const isRight = !isGuarded || (token !== undefined && sent.get('csrf_token') === token)
  return (
    headers.origin === site.origin &&
    isRight &&
    [...sent.values()].every((one) => one !== 'no') &&
    traps.every((name) => (sent.get(name) ?? '') === '')
  )
}

function show(state: State, response: ServerResponse, status: number, html: string) {
  const [pre, token] = [drawn(), drawn()]
  state.tokens.set(pre, token)
  const field = `<input type="hidden" name="csrf_token" value="${token}">`
  response.setHeader('set-cookie', `pre=${pre}; Path=/; HttpOnly; SameSite=Lax`)
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
  response.end(`<!doctype html><title>Site</title>${html.replace('{csrf}', field)}`)
}

function lead({ pages }: State, response: ServerResponse, location: string, cookie?: string) {
  if (cookie !== undefined) response.setHeader('set-cookie', `${cookie}; Path=/; Secure; HttpOnly`)
  response.writeHead(pages.status ?? 302, { location }).end()
}

function welcome(state: State, response: ServerResponse) {
  state.site.welcomed += 1
  lead(state, response, '/home', mark(state, 'sid'))
}

function mark({ marks }: State, name: string): string {
  const cookie = `${name}=${drawn()}`
  marks.add(cookie)
  return cookie
}

function has({ marks }: State, received: Received, name: string): boolean {
  return marks.has(`${name}=${cookiesOf(received).get(name) ?? ''}`)
}

function isIn(state: State, received: Received): boolean {
  return has(state, received, 'sid')
}

function cookiesOf({ headers }: Received): Map<string, string> {
  const pairs = (headers.cookie ?? '').split('; ').map((pair) => pair.split('='))
  return new Map(pairs.map(([name = '', value = '']) => [name, value]))
}

function formOf({ body }: Received): URLSearchParams {
  return new URLSearchParams(body.toString())
}

function drawn(): string {
  return randomBytes(9).toString('hex')
}
