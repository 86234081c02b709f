/**
 * A browser without a screen, against the app in this process. It keeps cookies, sends its origin, follows
 * redirects and submits the forms of the pages that it was shown.
 */
import * as z from 'zod'
import { webFunction } from '../../functions/web/app.tsx'
import { pages } from '../../functions/web/index.ts'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { openSessionToken } from '../../shared/auth/session.ts'
import { randomBytes } from './seed.ts'
import { type Agent, pepper, type TestWorld } from './world.ts'

export type Shown = {
  status: number
  /** Path at which the redirects ended. */
  path: string
  html: string
  /** Visible text of the page, in one line. */
  text: string
  headers: Headers
}

export type Browser = {
  /** Cookies by name, as the browser would send them. */
  cookies: Map<string, string>
  /** Opens a page below /web and follows redirects. */
  visit(path: string, headers?: Record<string, string>): Promise<Shown>
  /** Submits the form with this action on the last page, or the only form outside the menu. */
  submit(fields?: Record<string, string>, action?: string): Promise<Shown>
  /** Sends any request as this browser would, without following a redirect. */
  send(path: string, init?: RequestInit): Promise<Shown>
}

const origin = 'http://localhost'
const redirectsMax = 5

export function openBrowser({ world }: Pick<TestWorld, 'world'>): Browser {
  const app = webFunction(pages, () => world)
  const cookies = new Map<string, string>()
  let shown: Shown | undefined

  async function send(path: string, init: RequestInit = {}): Promise<Shown> {
    const url = new URL(path, origin)
    const headers = new Headers(init.headers)
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    if (cookie !== '' && !headers.has('cookie')) headers.set('cookie', cookie)
    const response = await app.fetch(new Request(url, { ...init, headers }))
    for (const line of response.headers.getSetCookie()) keep(line)
    const html = await response.text()
    const text = plain(html)
    const { status } = response
    return { status, path: url.pathname + url.search, html, text, headers: response.headers }
  }

  function keep(line: string) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (/max-age=0/i.test(line)) cookies.delete(name)
    else cookies.set(name, value)
  }

  async function follow(answer: Shown): Promise<Shown> {
    let last = answer
    for (let count = 0; count < redirectsMax; count += 1) {
      const location = last.headers.get('location')
      if (location === null || new URL(location, origin).origin !== origin) break
      last = await send(new URL(location, new URL(last.path, origin)).href)
    }
    shown = last
    return last
  }

  return {
    cookies,
    send,
    visit: async (path, headers = {}) => follow(await send(path, { headers })),
    async submit(fields = {}, action) {
      const { target, given } = formIn(shown, action)
      const body = new URLSearchParams({ ...given, ...fields }).toString()
      const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' }
      return follow(await send(target, { method: 'POST', body, headers }))
    },
  }
}

/** Returns a browser in which the owner of the account is signed in. */
export async function signedIn(
  { world, db }: Pick<TestWorld, 'world' | 'db'>,
  { id }: Pick<Agent, 'id'>,
): Promise<Browser> {
  const sid = randomBytes(32).toString('base64url')
  const digest = await credentialOf(sid, pepper)
  const minutes = (count: number) => new Date(world.now().getTime() + count * 60_000)
  await db.sql`insert into private.owners (account, email) values (${id}, ${`${id}@owner.example`})
    on conflict do nothing`
  await db.sql`with opened as (insert into private.credentials
      (account, kind, digest, label, shown, scopes, expires_at)
    values (${id}, 'session', ${digest}, 'Test', 'session', '{owner}', ${minutes(30)}) returning id)
    insert into private.sessions (credential, signed_in_with, ends_at, user_agent, client)
    select id, 'password', ${minutes(720)}, 'guarantee/1.0', 'direct' from opened`
  const browser = openBrowser({ world })
  const token = await openSessionToken(world, { sid, account: id, expiresAt: minutes(30) })
  browser.cookies.set('__Host-aoa_session', token)
  return browser
}

const claims = z.object({ sub: z.string() })

/** Returns the value that the field `form` has on pages that this browser is shown now. */
export function ownForm({ cookies }: Browser): string {
  const token = cookies.get('__Host-aoa_form') ?? ''
  const [, payload] = cookies.get('__Host-aoa_session')?.split('.') ?? []
  if (payload === undefined) return token
  return `${token}.${claims.parse(JSON.parse(Buffer.from(payload, 'base64url').toString())).sub}`
}

/** Returns the form of the page with this action, or its only form. */
function formIn(shown: Shown | undefined, action: string | undefined): ShownForm {
  const { html = '' } = shown ?? {}
  const [main = ''] = /<main\b.*<\/main>/s.exec(html) ?? []
  // The menu has its own form on every page.
  const forms = formsIn(action === undefined ? main : html)
  const found = forms.filter(({ target }) => action === undefined || target === action)
  const [form] = found
  if (!form || (action === undefined && found.length > 1)) {
    const known = forms.map(({ target }) => target).join(', ')
    throw new Error(`${shown?.path ?? 'no page'} has the forms [${known}]: name one of them`)
  }
  return form
}

/** The target of a form, and the fields that a browser would send of it untouched. */
export type ShownForm = { target: string; given: Record<string, string> }

export function formsIn(html: string): ShownForm[] {
  return [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, head = '', body = '']) => ({
    target: attribute(head, 'action') ?? '',
    given: givenIn(body),
  }))
}

function givenIn(body: string): Record<string, string> {
  const given: Record<string, string> = {}
  for (const [, head = ''] of body.matchAll(/<input\b([^>]*)>/g)) {
    const name = attribute(head, 'name')
    const isChosen = !/type="(radio|checkbox)"/.test(head) || /\schecked/.test(head)
    if (name !== undefined && isChosen) given[name] = attribute(head, 'value') ?? ''
  }
  for (const [, head = '', inside = ''] of body.matchAll(/<select\b([^>]*)>(.*?)<\/select>/gs)) {
    const options = [...inside.matchAll(/<option\b([^>]*)>/g)].map(([, option = '']) => option)
    const chosen = options.find((option) => /\sselected/.test(option)) ?? options[0] ?? ''
    given[attribute(head, 'name') ?? ''] = attribute(chosen, 'value') ?? ''
  }
  return given
}

function attribute(head: string, name: string): string | undefined {
  const [, value] = new RegExp(`\\b${name}="([^"]*)"`).exec(head) ?? []
  return value === undefined ? undefined : unescape(value)
}

function plain(html: string): string {
  return unescape(html.replace(/<head>.*?<\/head>/s, '').replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim()
}

function unescape(text: string): string {
  const names: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
  return text.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => names[name] ?? '')
}
