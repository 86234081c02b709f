import { readAtMost } from '../../shared/http/input.ts'
import { runToEnd } from '../../shared/http/later.ts'
import { mailLimits } from '../../shared/mailbox/receive/parse.ts'
import { isTemporary, mailRefusals } from '../../shared/mailbox/receive/parse-refusals.ts'
import {
  checkRecipient,
  type Reception,
  receiveMail,
} from '../../shared/mailbox/receive/receive.ts'
import { type World, worldFrom } from '../../shared/world.ts'
import { serveWebhook } from './webhook.ts'

/** A mail as the platform delivers it (Cloudflare Email Workers, ForwardableEmailMessage). */
export type PlatformMail = {
  from: string
  to: string
  raw: ReadableStream<Uint8Array>
  /** Ends the SMTP exchange with a permanent error. */
  setReject(reason: string): void
}

/** Makes the function. Only tests replace `worldOf`. */
export function inboundMail(worldOf: (bindings: Record<string, unknown>) => World = worldFrom) {
  return {
    fetch: runToEnd((request, bindings = {}) =>
      serveWebhook(worldOf(bindings), { receiveMail, takesMail: checkRecipient }, request),
    ),
    async email(mail: PlatformMail, bindings: Record<string, unknown> = {}): Promise<void> {
      const reception = await receivePlatformMail(worldOf(bindings), mail)
      if (reception === 'kept') return
      const reply = mailRefusals[reception.refused]
      // The platform takes an exception for a temporary error, and the sending server tries again.
      if (isTemporary(reception.refused)) throw new Error(reply)
      mail.setReject(reply.slice('550 '.length))
    },
  }
}

async function receivePlatformMail(
  world: World,
  { from, to, raw }: PlatformMail,
): Promise<Reception> {
  const bytes = await readAtMost(raw, mailLimits.bytesMax)
  if (bytes === 'too_long') return { refused: 'too_large' }
  if (bytes === 'broken') throw new Error('the mail did not come whole')
  return receiveMail(world, { envelopeFrom: from, envelopeTo: to, raw: bytes })
}

export default inboundMail()
