/**
 * Sends the pushes that wait in the outbox, a bounded number in one run and for one account. Push services are chosen
 * by browsers, so one that is silent costs its own account's turn and never delays a mail.
 */
import * as z from 'zod'
import type { CallerDatabase } from '../../db/database.ts'
import type { World } from '../../world.ts'
import { openOutboxMail } from '../outbox.ts'
import type { Failure } from '../port.ts'
import { visibleText } from '../untrusted.ts'
import { sendPush } from './send.ts'

/** Number of pushes in one run. */
const pushesMax = 50
/** Number of pushes sent at once. A Worker may have six connections open. */
const atOnce = 5

const pushLeaseSchema = z.object({
  id: z.uuid(),
  sealed: z.string(),
  tries: z.int(),
  /** Id of the notice that this repeats. */
  seals: z.uuid(),
  topic: z.string(),
  device: z.object({ endpoint: z.string(), p256dh: z.string(), auth: z.string() }),
})
type PushLease = z.output<typeof pushLeaseSchema>

/** Sends the pushes of one run. */
export async function deliverPushes(world: World, db: CallerDatabase): Promise<void> {
  const leases = await db.many('mailer_claim_pushes', { pushes_max: pushesMax }, pushLeaseSchema)
  for (let from = 0; from < leases.length; from += atOnce) {
    const next = leases.slice(from, from + atOnce)
    await Promise.all(next.map((lease) => deliverOne(world, db, lease)))
  }
}

async function deliverOne(world: World, db: CallerDatabase, lease: PushLease) {
  const failure = await tryToPush(world, lease).catch(
    (error: unknown): Failure => ({ reason: String(error), forGood: false, outage: false }),
  )
  if (!failure) return db.run('mailer_push_done', { push: lease.id })
  if (failure === 'gone') return db.run('mailer_device_gone', { push: lease.id })
  const reason = visibleText(failure.reason)
  world.log({ work: 'push', push: lease.id, tries: lease.tries, log: reason })
  return db.run('mailer_push_failed', { push: lease.id, reason, for_good: failure.forGood })
}

/** Sends the subject of a notice, the first line of its text and its link. Its codes and facts stay in the mail. */
async function tryToPush(
  world: World,
  { device, seals, topic, sealed }: PushLease,
): Promise<Failure | 'gone' | undefined> {
  const { subject, text, link } = await openOutboxMail(world, { id: seals, to: null, sealed })
  const [body = ''] = text.split('\n', 1)
  const isUrgent = topic.endsWith('_wanted')
  const url = link ?? world.config.WEB_URL
  return sendPush(world, device, { id: seals, title: subject, body, url, isUrgent })
}
