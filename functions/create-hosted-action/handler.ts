import * as z from 'zod'
import { fail, isRefusal } from '../../shared/contract/errors.ts'
import type { Config } from '../../shared/env.ts'
import { createActionLink, mayReturnTo } from '../../shared/hosted/link.ts'
import { wantedDeposit } from '../../shared/hosted/wanted-deposit.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { usableSite } from '../../shared/vault/entries/site.ts'
import type { createHostedAction } from './contract.ts'

const madeRow = z.object({ action_id: z.uuid(), expires_at: z.string() })

const ttlSecondsDefault = 900
/** Number of links of one account that may wait to be opened. */
const pendingMax = 20

type Order = z.output<typeof createHostedAction.request>

/** Makes the link and stores its order; the URL is answered once and only its digest is stored. */
export const run: Handler<typeof createHostedAction> = async (input, { db, world }) => {
  const { action_type: type, return_url, ttl_seconds = ttlSecondsDefault } = input
  if (return_url !== undefined && !mayReturnTo(world.config, return_url)) {
    return fail('return_url_refused')
  }
  const wanted = wantedOf(world.config, input)
  if (isRefusal(wanted)) return wanted
  const { shown, ...matched } = wanted
  const { url, digest } = await createActionLink(world)
  const order = {
    type,
    token_digest: digest,
    asked: { ...shown, ...(return_url === undefined ? {} : { return_url }) },
    ttl_seconds,
    pending_max: pendingMax,
    ...matched,
  }
  const made = await db.one('create_hosted_action', order, madeRow)
  if (!made) return fail('too_many_links')
  return { url, action_id: made.action_id, expires_at: new Date(made.expires_at).toISOString() }
}

/** Returns the part of the order that the page shows, and the facts by which its outcome is matched. */
function wantedOf(config: Config, order: Order) {
  switch (order.action_type) {
    case 'deposit':
    case 'walletconnect':
      return wantedDeposit(config, order)
    case 'website_login':
      return wantedLogin(config, order)
    case 'login':
    case 'human_verification':
      return { shown: {} }
  }
}

function wantedLogin(config: Config, { site = '', username }: Order) {
  const usable = usableSite(site, config)
  if ('refused' in usable) return fail('site_refused', { message: usable.refused })
  return { shown: { site: usable.origin, ...(username === undefined ? {} : { username }) } }
}
