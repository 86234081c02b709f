import * as z from 'zod'
import { fail } from '../../shared/contract/errors.ts'
import { checkUrl } from '../../shared/egress/safe-fetch.ts'
import type { Handler } from '../../shared/http/handler.ts'
import { newSigningSecret } from '../../shared/webhooks/signing.ts'
import type { accountWebhookCreate } from './contract.ts'

const createdRow = z.object({ created_at: z.coerce.date() })

/** Makes the webhook. Its secret is answered once and stored sealed; the first event is that it was made. */
export const run: Handler<typeof accountWebhookCreate> = async ({ url }, context) => {
  const { db, world } = context
  const checked = checkUrl(url, { allowLoopback: world.config.allowLoopback })
  if ('refused' in checked) return fail('webhook_refused', { hint: checked.refused })
  const webhook = world.newId()
  const { secret, sealed } = await newSigningSecret(world, webhook)
  const { href } = checked.url
  const created = await db.one('create_webhook', { webhook, url: href, sealed }, createdRow)
  if (!created) return fail('too_many_webhooks')
  context.mailSoon()
  return { webhook_id: webhook, url: href, secret, created_at: created.created_at.toISOString() }
}
