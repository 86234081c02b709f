/**
 * Sends the mails that wait in the outbox, and then pushes. Two runs never hold the same mail, and a run that dies
 * leaves its mails to a later one. If the confirmation that a server took a mail is lost, the mail can
 * arrive twice; both copies then have the same id.
 */
import * as z from 'zod'
import { type CallerDatabase, unbound } from '../db/database.ts'
import { visibleText } from '../text/untrusted.ts'
import type { World } from '../world.ts'
import { isAddress, noticeAddress } from './address.ts'
import { markAsAgentMail } from './agent-mark.ts'
import { openOutboxMail } from './outbox.ts'
import type { Failure, MailTransport } from './port.ts'
import { deliverPushes } from './push.ts'
import { enqueueWaitingNotices } from './waiting-notices.ts'

/** Number of mails sent at once. A Worker may have six connections open. */
const mailsMax = 5
/** Number of rounds in one run. The next run continues. */
const roundsMax = 40

const outboxLeaseSchema = z.object({
  id: z.uuid(),
  recipient: z.string().nullable(),
  address: z.string().nullable(),
  sealed: z.string(),
  created_at: z.coerce.date(),
  tries: z.int(),
  to_owner: z.boolean(),
})
type OutboxLease = z.output<typeof outboxLeaseSchema>

/** Delivers all mails that are due, each of them once, and pushes if no more mails wait. */
export async function deliverMail(world: World, send: MailTransport): Promise<void> {
  const db = unbound(world.db)
  await enqueueWaitingNotices(world, db).catch((error: unknown) => {
    world.log({ work: 'mail', log: String(error) })
  })
  for (let round = 0; round < roundsMax; round += 1) {
    const leases = await db.many('mailer_claim', { mails_max: mailsMax }, outboxLeaseSchema)
    await Promise.all(leases.map((lease) => deliverOne(world, db, send, lease)))
    if (leases.length < mailsMax) return deliverPushes(world, db)
  }
}

async function deliverOne(
  world: World,
  db: CallerDatabase,
  send: MailTransport,
  lease: OutboxLease,
) {
  const failure = await tryToSend(world, send, lease).catch(
    (error: unknown): Failure => ({ reason: String(error), forGood: false, outage: true }),
  )
  if (!failure) return db.run('mailer_done', { mail: lease.id })
  // Servers often repeat the address, which does not belong in the operator's log. Their replies may
  // also contain characters that the database cannot store, and one mail must not hold up all others.
  const said = visibleText(failure.reason)
  const reason = lease.address === null ? said : said.replaceAll(lease.address, 'the recipient')
  world.log({ work: 'mail', mail: lease.id, tries: lease.tries, log: reason })
  const { forGood, outage } = failure
  return db.run('mailer_failed', { mail: lease.id, reason, for_good: forGood, outage })
}

async function tryToSend(
  world: World,
  send: MailTransport,
  { id, recipient, address, sealed, created_at: createdAt, to_owner: toOwner }: OutboxLease,
): Promise<Failure | undefined> {
  if (address === null || !isAddress(address)) {
    return { reason: 'there is no address that it could go to', forGood: true, outage: false }
  }
  const notices = noticeAddress(world.config)
  const {
    from = `Agent Operating Account <${notices}>`,
    headers = {},
    link: _,
    ...letter
  } = await openOutboxMail(world, { id, to: recipient, sealed })
  const mail = { id, from, to: address, createdAt, headers, ...letter }
  return send(toOwner ? markAsAgentMail(mail, notices) : mail)
}
