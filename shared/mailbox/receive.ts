/**
 * Takes a mail from the server that received it: has it read, and has the vault keep it. It never
 * throws: whatever fails here is a reason to send the mail again later, so that none is lost.
 */
import { isRefusal, type Refusal } from '../contract/errors.ts'
import type { World } from '../world.ts'
import { type Delivery, goesInCircles, originOf } from './origin.ts'
import { parseHead } from './parse.ts'
import type { MailRefusal } from './parse-refusals.ts'
import { readElsewhere } from './read-elsewhere.ts'

/** What becomes of a mail. */
export type Reception = 'kept' | { refused: MailRefusal }

/** Takes a mail, or says why not. Its text is read only when there is a place for it and it is its turn. */
export async function receiveMail(world: World, delivery: Delivery): Promise<Reception> {
  return orLater(world, async () => {
    const known = await receptionAt(world, delivery.envelopeTo)
    if (known !== 'kept') return known
    const written = await parseHead(delivery.raw)
    if ('refused' in written) return written
    if (goesInCircles(written)) return { refused: 'loop' }
    const origin = await originOf(world.config, delivery, written)
    const admitted = await vaultOf(world).admits({ ...origin, messageId: written.messageId })
    if (admitted !== 'open') return admitted
    const content = await readElsewhere(world, delivery.raw, origin)
    return 'refused' in content ? content : vaultOf(world).keep({ ...origin, ...content })
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
