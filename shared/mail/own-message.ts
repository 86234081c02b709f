/** The names that mails of this service have everywhere: their Message-IDs (RFC 5322 section 3.6.4). */
import * as z from 'zod'

/** The Message-ID of a mail of our own. */
export function messageIdOf(domain: string, id: string): string {
  return `<${id}@${domain}>`
}

/** The id of a mail of our own that a Message-ID names: `<id@MAIL_DOMAIN>`, else null. */
export function ownMessage(domain: string, messageId: string | undefined): string | null {
  const [id = '', host] = messageId?.slice(1, -1).toLowerCase().split('@') ?? []
  return host === domain.toLowerCase() && z.uuid().safeParse(id).success ? id : null
}
