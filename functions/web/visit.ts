/** Types of one request for a page. */
import type { Context } from 'hono'
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
  }
  /** Number of requests that only the owner can decide. */
  waiting: { payments: number; mandates: number }
}
