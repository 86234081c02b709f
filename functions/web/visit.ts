/** The types of one request for a page. */
import type { Context } from 'hono'
import type { Hono } from 'hono/tiny'
import type { CallerDatabase } from '../../shared/db/database.ts'
import type { World } from '../../shared/world.ts'

/** Path of the first page; all others are below it. */
export const pagesBelow = '/web'

export type Bindings = Record<string, unknown>
export type Frame = {
  Bindings: Bindings
  Variables: {
    world: World
    requestId: string
    formToken: string
    /** Whose page the form that was sent is of. */
    formAccount?: string
    owner?: Owner
    /** The account that this request opened, whose owner nobody has asked for yet. */
    openedAccount?: string
    /** What a page wants kept of its form while the owner proves itself. */
    typed?: URLSearchParams
    /** Of a page that speaks to it; no other may. */
    walletRelay?: WalletRelay
  }
}
/** The WalletConnect relay that a page may reach, and as whose it is known there. */
export type WalletRelay = { url: string; projectId: string }

/** One request for a page. */
export type Visit = Context<Frame>
/** Adds the routes of one page, which are written as they stand below `pagesBelow`. */
export type Routes = (app: Hono<Frame, Record<string, never>, typeof pagesBelow>) => void

/** The account whose owner is signed in, and the database as this session sees it. */
export type Owner = {
  db: CallerDatabase
  /** What stands for the session in the database. */
  credential: string
  account: { id: string; alias: string; mailAddress: string; isFrozen: boolean }
}
