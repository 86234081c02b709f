/**
 * Actions that a browser can take with the link of a hosted action. The link acts for anybody who has it,
 * except that a login is entered by the owner only. The first browser that opens a link is recognised by
 * its form token; all others are refused.
 */
import * as z from 'zod'
import { fail, isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { unbound } from '../../../shared/db/database.ts'
import { sha256Hex } from '../../../shared/digest.ts'
import { actionSchema } from '../../../shared/hosted/action.ts'
import { linkDigest } from '../../../shared/hosted/link.ts'
import { clientOf } from '../../../shared/http/caller.ts'
import { loginEntered } from '../../../shared/mail/access-messages.ts'
import type { SecurityEvent } from '../../../shared/mail/deed.ts'
import { sealForOutbox } from '../../../shared/mail/outbox.ts'
import { vaultOf } from '../vault/entry-lines.tsx'
import { typedLogin } from '../vault/login-fields.tsx'
import type { Owner, PageContext } from '../visit.ts'

const linkViewRow = z.object({
  /** Null for a browser that did not open the link. */
  action: actionSchema.nullable(),
  alias: z.string(),
  /** Address of the account's wallet, once this browser has opened the link. */
  address: z.string().nullable(),
})

/** Part of a link that its page may show. */
export type LinkView = z.output<typeof linkViewRow>
type Step = 'link_look' | 'link_decline' | 'link_verify'

/** Reads the link of this request or takes a step with it, and returns what its page may show. */
export async function takeStep(c: PageContext, step: Step): Promise<LinkView> {
  const { db } = c.get('world')
  return found(await unbound(db).one(step, await heldLink(c), linkViewRow))
}

/** Opens the link of this request, as the owner if one is signed in. */
export async function readHostedLink(c: PageContext, me: Owner | undefined): Promise<LinkView> {
  const db = me?.db ?? unbound(c.get('world').db)
  return found(await db.one('link_open', await heldLink(c), linkViewRow))
}

/** Records the wallet that the money of this link will come from. */
export async function connectWallet(c: PageContext, wallet: string): Promise<LinkView> {
  const { db } = c.get('world')
  const args = { ...(await heldLink(c)), wallet }
  return found(await unbound(db).one('link_connect', args, linkViewRow))
}

/** Stores in the vault what the owner typed, for the site that the link names. */
export async function enterLogin(
  c: PageContext,
  { credential }: Owner,
  form: URLSearchParams,
  named: { site: string; username: string },
  deed: SecurityEvent,
) {
  const world = c.get('world')
  const entry = typedLogin(form, named)
  if (isRefusal(entry)) return entry
  const { site: _site, username: _username, ...secret } = entry
  const mail = await sealForOutbox(
    world,
    loginEntered(world.config.WEB_URL, { ...deed, site: named.site }),
  )
  const { username } = named
  return vaultOf(c).storeByLink({ credential, ...(await heldLink(c)), username, secret, mail })
}

/** Returns the digests of the link and of the browser that holds it, as the database stores them. */
export async function heldLink(c: PageContext) {
  const token_digest = await linkDigest(c.get('world').config, c.req.param('token') ?? '')
  if (token_digest === undefined) throw new Rejection(fail('link_not_found'))
  const browser = await sha256Hex(c.get('formToken'))
  return { token_digest, browser, client: clientOf(c.get('world').config, c.req.raw.headers) }
}

function found(seen: LinkView | undefined): LinkView {
  if (!seen) throw new Rejection(fail('link_not_found'))
  return seen
}
