/**
 * Seals a mail in its parts, each for its own place: head, body, files and codes of one mail cannot
 * be exchanged, nor given to another mail, account or domain.
 */
import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { Wrap } from '../sealing/wrap.ts'
import { type SealedRecord, sealRecord } from '../vault/envelope.ts'
import type { VaultRoom } from '../vault/room.ts'
import type { IncomingMail } from './inbound-port.ts'

/** What SQL is given of a mail. */
export type SealedMail = {
  mail: { id: string } & Record<string, string | number | SealedRecord | null>
  attachments: SealedRecord[]
  codes: { handle: string; kind: string; hosts: string[]; sealed: SealedRecord }[]
}

/** Seals everything of a mail but who wrote it, what proves that, and how large it is. */
export function sealMail(
  room: VaultRoom,
  { account, wrap }: { account: string; wrap: Wrap },
  { head, body, attachments, codes, codeHosts: hosts, ...open }: IncomingMail,
): SealedMail {
  const { world } = room
  const id = world.newId()
  const { provenDomain, ...verdicts } = open.authentication
  const site = provenDomain ?? ''
  const keys = { roots: room.roots('mail'), wrap }
  const seal = (part: string, content: Uint8Array, at = site) =>
    sealRecord(
      keys,
      (length) => world.randomBytes(length),
      { account, record: `${id}/${part}`, version: 1, site: at },
      content,
    )
  const sealJson = (part: string, value: unknown) => seal(part, utf8ToBytes(JSON.stringify(value)))
  return {
    mail: {
      id,
      from_address: open.from,
      proven_domain: provenDomain ?? null,
      ...verdicts,
      digest: open.digest,
      size: open.size,
      sealed_head: sealJson('head', head),
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
