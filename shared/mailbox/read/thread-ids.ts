/**
 * Chooses the Message-IDs that a reply may name. A site may repeat in one the token that its mail signs
 * somebody in with, and an agent that cannot read the token could send it to anybody.
 */
import { ownMailIdOf } from '../../mail/own-message.ts'

/** The ids of an answered mail. */
export type ThreadIds = {
  messageId: string | undefined
  inReplyTo: string | undefined
  references: readonly string[]
}

/** Returns all ids for those who had the answered mail, and for others only those of this service. */
export function idsToName(
  { messageId, inReplyTo, references }: ThreadIds,
  { domain, isToOthers }: { domain: string; isToOthers: boolean },
): ThreadIds {
  const isNamed = (id: string | undefined) =>
    !isToOthers || (id !== undefined && ownMailIdOf(domain, id) !== null)
  return {
    messageId: isNamed(messageId) ? messageId : undefined,
    inReplyTo: isNamed(inReplyTo) ? inReplyTo : undefined,
    references: references.filter(isNamed),
  }
}
