/**
 * Sends what waits in the outbox. Two runs never hold the same mail; one that ends in between leaves
 * its mails to a later run. A mail may arrive twice when the word that it was taken was lost, and
 * then carries the same id.
 */
import * as z from 'zod'
import type { CallerDatabase } from '../db/database.ts'
import { unbound } from '../db/database.ts'
import type { World } from '../world.ts'
import { isAddress, noticeAddress } from './address.ts'
import { markedAsAgents } from './agent-mark.ts'
import { openMail } from './outbox.ts'
import type { Failure, MailTransport } from './port.ts'
import { tellUntold } from './untold.ts'
import { visibleText } from './untrusted.ts'

/** Sent at once: a Worker may open six connections. */
const mailsMax = 5
/** Of one run; the next one goes on. */
const roundsMax = 40

const claimSchema = z.object({
  id: z.uuid(),
  recipient: z.string().nullable(),
  address: z.string().nullable(),
  sealed: z.string(),
  created_at: z.coerce.date(),
  tries: z.int(),
  to_owner: z.boolean(),
})
type Claim = z.output<typeof claimSchema>

/** Delivers all that is due, each mail once. */
export async function deliverMail(world: World, send: MailTransport): Promise<void> {
  const db = unbound(world.db)
  await tellUntold(world, db).catch((error: unknown) => {
    world.log({ work: 'mail', log: String(error) })
  })
  for (let round = 0; round < roundsMax; round += 1) {
    const claims = await db.many('mailer_claim', { mails_max: mailsMax }, claimSchema)
    await Promise.all(claims.map((claim) => deliverOne(world, db, send, claim)))
    if (claims.length < mailsMax) return
  }
}

async function deliverOne(world: World, db: CallerDatabase, send: MailTransport, claim: Claim) {
  const failure = await tryToSend(world, send, claim).catch(
    (error: unknown): Failure => ({ reason: String(error), forGood: false, outage: true }),
  )
  if (!failure) return db.run('mailer_done', { mail: claim.id })
  // Servers like to repeat the address, which the operator's log has no need of. What they say may hold
  // signs that nothing can keep, and one mail must not hold up all.
  const said = visibleText(failure.reason)
  const reason = claim.address === null ? said : said.replaceAll(claim.address, 'the recipient')
  world.log({ work: 'mail', mail: claim.id, tries: claim.tries, log: reason })
  const { forGood, outage } = failure
  return db.run('mailer_failed', { mail: claim.id, reason, for_good: forGood, outage })
}

async function tryToSend(
  world: World,
  send: MailTransport,
  { id, recipient, address, sealed, created_at: createdAt, to_owner: toOwner }: Claim,
): Promise<Failure | undefined> {
  if (address === null || !isAddress(address)) {
    return { reason: 'there is no address that it could go to', forGood: true, outage: false }
  }
  const notices = noticeAddress(world.config)
  const {
    from = `Agent Operating Account <${notices}>`,
    headers = {},
    ...letter
  } = await openMail(world, { id, to: recipient, sealed })
  const mail = { id, from, to: address, createdAt, headers, ...letter }
  return send(toOwner ? markedAsAgents(mail, notices) : mail)
}
