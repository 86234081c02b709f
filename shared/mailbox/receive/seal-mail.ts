/**
 * Seals a mail in parts, each bound to its own record: the head, body, files and codes of a mail cannot
 * be swapped, nor moved to another mail, account or domain.
 */
import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { WrappedAccountKey } from '../../sealing/wrap.ts'
import { type SealedRecord, sealRecord } from '../../vault/envelope.ts'
import type { VaultContext } from '../../vault/room.ts'
import { textForAgents } from '../kept-mail.ts'
import type { IncomingMail } from './inbound-port.ts'

/** The values of a mail that SQL stores. */
export type SealedMail = {
  mail: { id: string } & Record<string, string | number | SealedRecord | null>
  attachments: SealedRecord[]
  codes: { handle: string; kind: string; hosts: string[]; sealed: SealedRecord }[]
}

/**
 * Seals a mail. Its author, the proof, digest, size, and handles and hosts of codes stay readable. Of the
 * author's address, what works as a code is sealed too.
 */
export function sealMail(
  context: VaultContext,
  { account, wrap }: { account: string; wrap: WrappedAccountKey },
  { head, body, attachments, codes, codeHosts: hosts, ...open }: IncomingMail,
): SealedMail {
  const { world } = context
  const id = world.newId()
  const { provenDomain, ...verdicts } = open.authentication
  const site = provenDomain ?? ''
  const keys = { roots: context.roots('mail'), wrap }
  const seal = (part: string, content: Uint8Array, at = site) =>
    sealRecord(
      keys,
      (length) => world.randomBytes(length),
      { account, record: `${id}/${part}`, version: 1, site: at },
      content,
    )
  const author = head.address && { text: open.from, places: head.address.places }
  const sealJson = (part: string, value: unknown) => seal(part, utf8ToBytes(JSON.stringify(value)))
  return {
    mail: {
      id,
      from_address: author ? textForAgents(author) : open.from,
      proven_domain: provenDomain ?? null,
      ...verdicts,
      digest: open.digest,
      size: open.size,
      sealed_head: sealJson('head', { ...head, ...(author && { address: author }) }),
      sealed_body: sealJson('body', body),
    },
    attachments: attachments.map((content, at) => seal(`attachment/${at + 1}`, content)),
    codes: codes.map(({ handle, kind, value }) => ({
      handle,
      kind,
      hosts,
      sealed: seal(handle, utf8ToBytes(value), hosts.join(' ')),
    })),
  }
}
