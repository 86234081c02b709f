/**
 * Takes a mail from the server that received it: reads it, and has the vault keep it. It never
 * throws: whatever fails here is a reason to send the mail again later, so that none is lost.
 */
import { isRefusal, type Refusal } from '../contract/errors.ts'
import type { World } from '../world.ts'
import { codeHosts } from './code-hosts.ts'
import type { IncomingMail } from './inbound-port.ts'
import { markCodes } from './mark-codes.ts'
import { type Delivery, goesInCircles, originOf } from './origin.ts'
import { parseMail } from './parse.ts'
import type { MailRefusal } from './parse-refusals.ts'

/** What becomes of a mail. */
export type Reception = 'kept' | { refused: MailRefusal }

/** Takes a mail, or says why not. What is for nobody here is not read. */
export async function receiveMail(world: World, delivery: Delivery): Promise<Reception> {
  return orLater(world, async () => {
    const known = await receptionAt(world, delivery.envelopeTo)
    if (known !== 'kept') return known
    const mail = await read(world, delivery)
    return 'refused' in mail ? mail : vaultOf(world).keep(mail)
  })
}

/** Whether mail for an address would be looked at, before it is sent. */
export async function takesMail(world: World, address: string): Promise<Reception> {
  return orLater(world, () => receptionAt(world, address))
}

async function receptionAt(world: World, address: string): Promise<Reception | Refusal> {
  const known = await vaultOf(world).receives(address)
  if (isRefusal(known)) return known
  return known ? 'kept' : { refused: 'unknown_recipient' }
}

/** Needs no key of a mail and no database: what the bytes do to a reader they do away from both. */
async function read(
  world: World,
  delivery: Delivery,
): Promise<IncomingMail | { refused: MailRefusal }> {
  const mail = await parseMail(delivery.raw)
  if ('refused' in mail) return mail
  if (goesInCircles(mail)) return { refused: 'loop' }
  const { automatic, ...origin } = await originOf(world.config, delivery, mail)
  const { head, body, codes } = markCodes(world, mail)
  const texts = [mail.subject, body.text.text, body.htmlText.text]
  const hosts = origin.isOwn ? [] : codeHosts(origin, texts)
  const attachments = mail.attachments.map(({ content }) => content)
  return { ...origin, head, body: { ...body, automatic }, codes, codeHosts: hosts, attachments }
}

function vaultOf({ vault }: World) {
  if (!vault) throw new Error('VAULT is not bound')
  return vault
}

async function orLater(world: World, work: () => Promise<Reception | Refusal>): Promise<Reception> {
  try {
    const outcome = await work()
    if (!isRefusal(outcome)) return outcome
    world.log({ work: 'inbound_mail', error: outcome.refusal, log: outcome.log ?? '' })
  } catch (error) {
    world.log({ work: 'inbound_mail', error: 'internal_error', log: String(error) })
  }
  return { refused: 'unavailable' }
}
