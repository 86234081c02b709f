/**
 * Sends the events of accounts to their webhooks. Two runs never hold the same webhook. If the confirmation of a
 * receiver is lost, the event can arrive twice; both copies then have the same id.
 */
import * as z from 'zod'
import { type CallerDatabase, unbound } from '../db/database.ts'
import { safeFetch } from '../egress/safe-fetch.ts'
import { activityItem, activityRow } from '../payments/show/activity.ts'
import { visibleText } from '../text/untrusted.ts'
import type { World } from '../world.ts'
import { openSigningSecret, signedHeaders } from './signing.ts'

/** Number of webhooks served at once. A Worker may have six connections open. */
const webhooksMax = 5
/** A receiver answers at once and works later; its answer is not read. */
const limits = { timeoutMilliseconds: 5_000, bytesMax: 1024 }
/** Time after which a webhook is not sent more in one round, whose lease is a minute. */
const roundMilliseconds = 40_000
/** Time after which a run takes no more webhooks. */
const runMilliseconds = 45_000

const webhookRow = z.object({
  id: z.uuid(),
  url: z.string(),
  sealed: z.string(),
  events: z.array(
    z.object({
      event: z.string(),
      type: z.string(),
      at: z.coerce.date(),
      item: activityRow,
    }),
  ),
})
type Webhook = z.output<typeof webhookRow>
type Event = Webhook['events'][number]

/** Sends what is due, each webhook's events in turn. */
export async function deliverEvents(world: World): Promise<void> {
  const db = unbound(world.db)
  const end = world.deadline(runMilliseconds)
  while (!end.aborted) {
    const due = await db.many('mailer_claim_webhooks', { webhooks_max: webhooksMax }, webhookRow)
    await Promise.all(due.map((webhook) => deliverTo(world, db, webhook)))
    if (due.length < webhooksMax) return
  }
}

/** Sends the events of one round until one does not arrive. */
async function deliverTo(world: World, db: CallerDatabase, webhook: Webhook): Promise<void> {
  const end = world.deadline(roundMilliseconds)
  for (const event of webhook.events) {
    if (end.aborted) break
    const sent = { webhook: webhook.id, event: event.event }
    const failure = await tryToSend(world, db, webhook, event).catch(
      (error: unknown): Failure => ({ reason: String(error), gone: false }),
    )
    if (failure) {
      const reason = visibleText(failure.reason)
      world.log({ work: 'webhook', ...sent, log: reason })
      return db.run('mailer_event_failed', { ...sent, reason, gone: failure.gone })
    }
    await db.run('mailer_event_arrived', sent)
  }
  await db.run('mailer_round_done', { webhook: webhook.id })
}

/** Reason of a failed try; `gone` if the receiver says that it wants no more. */
type Failure = { reason: string; gone: boolean }

async function tryToSend(
  world: World,
  db: CallerDatabase,
  { id, url, sealed }: Webhook,
  { event, type, at, item }: Event,
): Promise<Failure | undefined> {
  const { secret, resealed } = await openSigningSecret(world, id, sealed)
  if (resealed !== undefined)
    await db.run('mailer_reseal_webhook', { webhook: id, sealed: resealed })
  const body = JSON.stringify({ type, timestamp: at.toISOString(), data: activityItem(item) })
  const signed = await signedHeaders(secret, { id: event, at: world.now(), body })
  const answer = await safeFetch(
    outsideOf(world),
    {
      url: new URL(url),
      method: 'POST',
      headers: Object.entries({ 'content-type': 'application/json', ...signed }),
      body: new TextEncoder().encode(body),
    },
    limits,
  )
  if (answer.kind === 'redirected') return { reason: 'The address redirects.', gone: false }
  if (answer.kind !== 'answered') {
    return { reason: 'reason' in answer ? answer.reason : 'No answer came in time.', gone: false }
  }
  const { status } = answer
  if (status >= 200 && status < 300) return undefined
  return { reason: `The address answered ${status}.`, gone: status === 410 }
}

/** Returns what may be reached: the internet alone, and none of the service's own addresses. */
function outsideOf(world: World) {
  return { ...world, config: { allowLoopback: world.config.allowLoopback } }
}
