/**
 * Takes a mail from the server that received it: has it read, and has the vault store it. It never
 * throws. After any failure here the mail may be sent again later, so that none is lost.
 */
import { isRefusal, type Refusal } from '../../contract/errors.ts'
import type { World } from '../../world.ts'
import { registrableDomain } from '../registrable-domain.ts'
import { type Delivery, goesInCircles, originOf } from './origin.ts'
import { parseHead } from './parse.ts'
import type { MailRefusal } from './parse-refusals.ts'
import { readInMailReader } from './read-elsewhere.ts'

/** The outcome for a mail. */
export type Reception = 'kept' | { refused: MailRefusal }

/** Takes a mail, or returns why not. Its text is read only if the vault admits the mail. */
export async function receiveMail(world: World, delivery: Delivery): Promise<Reception> {
  return orUnavailable(world, async () => {
    const known = await receptionAt(world, delivery.envelopeTo)
    if (known !== 'kept') return known
    const written = await parseHead(delivery.raw)
    if ('refused' in written) return written
    if (goesInCircles(written)) return { refused: 'loop' }
    const origin = await originOf(world.config, delivery, written)
    const admitted = await requiredVault(world).admits({ ...origin, messageId: written.messageId })
    if (admitted === 'kept' || !('sitesInUse' in admitted)) return admitted
    const { provenDomain } = origin.authentication
    const isOwner = (site: string) => registrableDomain(new URL(site).hostname) === provenDomain
    const isInUse = provenDomain !== undefined && admitted.sitesInUse.some(isOwner)
    const content = await readInMailReader(world, delivery.raw, { ...origin, isInUse })
    return 'refused' in content ? content : requiredVault(world).keep({ ...origin, ...content })
  })
}

/** Decides, before a mail is sent, whether the service accepts mail for its address. */
export async function checkRecipient(world: World, address: string): Promise<Reception> {
  return orUnavailable(world, () => receptionAt(world, address))
}

async function receptionAt(world: World, address: string): Promise<Reception | Refusal> {
  const known = await requiredVault(world).receives(address)
  if (isRefusal(known)) return known
  return known ? 'kept' : { refused: 'unknown_recipient' }
}

function requiredVault({ vault }: World) {
  if (!vault) throw new Error('VAULT is not bound')
  return vault
}

async function orUnavailable(
  world: World,
  work: () => Promise<Reception | Refusal>,
): Promise<Reception> {
  try {
    const outcome = await work()
    if (!isRefusal(outcome)) return outcome
    world.log({ work: 'inbound_mail', error: outcome.refusal, log: outcome.log ?? '' })
  } catch (error) {
    world.log({ work: 'inbound_mail', error: 'internal_error', log: String(error) })
  }
  return { refused: 'unavailable' }
}
