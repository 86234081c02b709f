/**
 * What a browser may do with the link of a hosted action. It acts for whoever has the link, but for the
 * owner where a login is asked for, and the first browser that opens it is told from all others by its
 * form token.
 */
import * as z from 'zod'
import { fail, isRefusal, Rejection } from '../../../shared/contract/errors.ts'
import { unbound } from '../../../shared/db/database.ts'
import { sha256Hex } from '../../../shared/digest.ts'
import { actionSchema } from '../../../shared/hosted/action.ts'
import { linkDigest } from '../../../shared/hosted/link.ts'
import { clientOf } from '../../../shared/http/caller.ts'
import type { Deed } from '../../../shared/mail/deed.ts'
import { sealMail } from '../../../shared/mail/outbox.ts'
import { loginEntered } from '../../../shared/mail/vault-messages.ts'
import type { Owner, Visit } from '../visit.ts'
import { typedLogin } from './typed-login.ts'
import { vaultOf } from './vault-port.ts'

const seenRow = z.object({
  /** Null for a browser that did not open it. */
  action: actionSchema.nullable(),
  alias: z.string(),
  /** The account's, once it is opened here. */
  address: z.string().nullable(),
})

export type Seen = z.output<typeof seenRow>
type Step = 'link_look' | 'link_decline' | 'link_verify'

/** Looks at the link of this request or takes a step with it; answers what its page may show. */
export async function takeStep(c: Visit, step: Step): Promise<Seen> {
  const { db } = c.get('world')
  return found(await unbound(db).one(step, await heldLink(c), seenRow))
}

/** Opens the link of this request, as the owner where one is signed in. */
export async function openLink(c: Visit, me: Owner | undefined): Promise<Seen> {
  const db = me?.db ?? unbound(c.get('world').db)
  return found(await db.one('link_open', await heldLink(c), seenRow))
}

/** Names the wallet from which the money of this link will come. */
export async function connectWallet(c: Visit, wallet: string): Promise<Seen> {
  const { db } = c.get('world')
  const args = { ...(await heldLink(c)), wallet }
  return found(await unbound(db).one('link_connect', args, seenRow))
}

/** Puts what the owner typed into the vault, for the site that the link asks for. */
export async function enterLogin(
  c: Visit,
  { credential }: Owner,
  form: URLSearchParams,
  named: { site: string; username: string },
  deed: Deed,
) {
  const world = c.get('world')
  const entry = typedLogin(form, named)
  if (isRefusal(entry)) return entry
  const { site: _site, username: _username, ...secret } = entry
  const mail = await sealMail(
    world,
    loginEntered(world.config.WEB_URL, { ...deed, site: named.site }),
  )
  const { username } = named
  return vaultOf(c).storeByLink({ credential, ...(await heldLink(c)), username, secret, mail })
}

/** The link of this request and the browser that holds it, as the database knows them. */
export async function heldLink(c: Visit) {
  const token_digest = await linkDigest(c.get('world').config, c.req.param('token') ?? '')
  if (token_digest === undefined) throw new Rejection(fail('link_not_found'))
  const browser = await sha256Hex(c.get('formToken'))
  return { token_digest, browser, client: clientOf(c.get('world').config, c.req.raw.headers) }
}

function found(seen: Seen | undefined): Seen {
  if (!seen) throw new Rejection(fail('link_not_found'))
  return seen
}
