/** Types of one request for a page. */
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { Hono } from 'hono/tiny'
import type { CallerDatabase } from '../../shared/db/database.ts'
import type { World } from '../../shared/world.ts'

/** Path of the first page; all others are below it. */
export const webAppPath = '/web'

/** Bindings of the platform. */
export type Bindings = Record<string, unknown>
/** Bindings and variables of a request. */
export type WebEnv = {
  Bindings: Bindings
  Variables: {
    world: World
    requestId: string
    formToken: string
    /** Id of the account that the page of the sent form was shown for. */
    formAccount?: string
    owner?: Owner
    /** Id of the account that this request opened, whose owner it has not read from the database. */
    openedAccount?: string
    /** Input that is kept in the browser while the owner proves their identity. */
    typed?: URLSearchParams
    /** Relay that this page connects to; other pages must not. */
    walletRelay?: WalletRelay
    /** Origin of the challenge that this page shows; other pages must not load it. */
    challengeOrigin?: string
    /** True for the page that registers the service worker; other pages must not. */
    loadsWorker?: boolean
  }
}
/** WalletConnect relay that a page may reach, and our project there. */
export type WalletRelay = { url: string; projectId: string }

/** One request for a page. */
export type PageContext = Context<WebEnv>
/** Function that adds the routes of one page, with paths relative to `webAppPath`. */
export type Routes = (app: Hono<WebEnv, Record<string, never>, typeof webAppPath>) => void

/** Account whose owner is signed in, and the database bound to this session. */
export type Owner = {
  db: CallerDatabase
  /** Keyed hash that identifies the session in the database. */
  credential: string
  account: {
    id: string
    alias: string
    mailAddress: string
    isFrozen: boolean
    /** End of the hold of the account; null if there is none. */
    holdUntil: string | null
    /** Time from which a closed account is erased; null for one that is open. */
    erasesAt: string | null
  }
  /** Number of requests that only the owner can decide. */
  waiting: { payments: number; mandates: number }
}

/**
 * Reads one of our paths from a query or form, as `goTo` takes it. Returns the overview for anything
 * else, so that a link cannot redirect a visitor elsewhere through us (open redirect).
 */
export function returnPathOf(next: string | null | undefined): string {
  const base = 'https://own.invalid'
  const target = URL.canParse(next ?? '', base) ? new URL(next ?? '', base) : undefined
  if (!next?.startsWith(`${webAppPath}`) || target?.origin !== base) return ''
  const { pathname, search } = target
  const isOurs = pathname === webAppPath || pathname.startsWith(`${webAppPath}/`)
  return isOurs ? pathname.slice(webAppPath.length) + search : ''
}

/** Returns the path as a hidden field or a query carries it. */
export function returnPathField(way: string): string {
  return webAppPath + way
}

/** Options of every cookie of ours that a script has no use for: it is sent to this host alone. */
export const hostCookie = { path: '/', secure: true, prefix: 'host' } as const

const name = 'aoa_typed'
/** Seconds that it is kept, and characters at most; cookies hold little more. */
const keptSeconds = 600
const lengthMax = 2_000

/** Marks the form to be kept if this request is refused for want of a proof. Not for secrets. */
export function markFormDraft(c: PageContext, form: URLSearchParams): void {
  const typed = new URLSearchParams(form)
  typed.set('form', c.req.path)
  typed.set('account', c.get('formAccount') ?? '')
  c.set('typed', typed)
}

/** Stores in the browser what the page marked. */
export function storeFormDraft(c: PageContext): void {
  const text = c.get('typed')?.toString() ?? ''
  if (text === '' || text.length > lengthMax) return
  setCookie(c, name, text, { ...hostCookie, httpOnly: true, sameSite: 'Lax', maxAge: keptSeconds })
}

/** Returns the input that was kept for the form of this page and account, once. */
export function takeFormDraft(c: PageContext, { account }: Owner): URLSearchParams | undefined {
  const typed = new URLSearchParams(getCookie(c, name, 'host'))
  if (typed.get('form') !== c.req.path) return undefined
  deleteFormDraft(c)
  return typed.get('account') === account.id ? typed : undefined
}

/** Deletes the kept input, as when the owner signs out. */
export function deleteFormDraft(c: PageContext): void {
  deleteCookie(c, name, hostCookie)
}
