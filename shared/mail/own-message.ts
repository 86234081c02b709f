/** Message-IDs of mails from this service, their globally unique names (RFC 5322 section 3.6.4). */
import * as z from 'zod'

/** Returns the Message-ID of a mail of this service. */
export function messageIdOf(domain: string, id: string): string {
  return `<${id}@${domain}>`
}

/** Returns the id of the mail of this service that a Message-ID `<id@MAIL_DOMAIN>` names, else null. */
export function ownMailIdOf(domain: string, messageId: string | undefined): string | null {
  const [id = '', host] = messageId?.slice(1, -1).toLowerCase().split('@') ?? []
  return host === domain.toLowerCase() && z.uuid().safeParse(id).success ? id : null
}
