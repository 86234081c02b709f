/** Mails as they are stored in the database, opened with the roots of the test. */
import * as z from 'zod'
import { decodeBase64 } from '../../shared/base64.ts'
import { mailBodySchema, mailHeadSchema, textFileSchema } from '../../shared/mailbox/kept-mail.ts'
import { readRoots } from '../../shared/sealing/roots.ts'
import { wrapSchema } from '../../shared/sealing/wrap.ts'
import { openRecord, readSealed } from '../../shared/vault/envelope.ts'
import type { TestWorld } from './world.ts'

const row = z.object({
  id: z.string(),
  proven_domain: z.string().nullable(),
  own_topic: z.string().nullable(),
  sealed_head: z.unknown(),
  sealed_body: z.unknown(),
  wrap: wrapSchema,
  files: z.array(z.unknown()),
  codes: z.array(
    z.object({
      handle: z.string(),
      kind: z.string(),
      hosts: z.array(z.string()),
      sealed: z.unknown(),
    }),
  ),
})

/** Returns all mails of an account, oldest first. */
export async function storedMails({ db, bindings }: TestWorld, account: string) {
  const rows = await db.sql`select m.*, k.wrap,
    (select coalesce(jsonb_agg(f.sealed order by f.number), '[]')
      from private.mail_attachments f where f.mail = m.id) as files,
    (select coalesce(jsonb_agg(to_jsonb(c) order by c.handle), '[]')
      from private.mail_codes c where c.mail = m.id) as codes
    from private.mails m join private.account_keys k on k.account = m.account and k.purpose = 'mail'
    where m.account = ${account} order by m.number`
  const roots = readRoots(bindings.vault['VAULT_ROOT_KEYS'] ?? '', 'mail')
  return z
    .array(row)
    .parse(rows)
    .map((mail) => {
      const site = mail.proven_domain ?? ''
      const open = (part: string, sealed: unknown, at = site) => {
        const place = { account, record: `${mail.id}/${part}`, version: 1, site: at }
        return openRecord({ roots, wrap: mail.wrap }, place, readSealed(sealed))
      }
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
      const json = (part: string, sealed: unknown): unknown => JSON.parse(text(open(part, sealed)))
      const body = mailBodySchema.parse(json('body', mail.sealed_body))
      const file = (sealed: unknown, at: number) => {
        const record = open(`attachment/${at + 1}`, sealed)
        if (body.attachments[at]?.reading !== 'text') return record
        return decodeBase64(textFileSchema.parse(JSON.parse(text(record))).content)
      }
      return {
        id: mail.id,
        ownTopic: mail.own_topic,
        head: mailHeadSchema.parse(json('head', mail.sealed_head)),
        body,
        files: mail.files.map(file),
        codes: mail.codes.map(({ handle, kind, hosts, sealed }) => ({
          handle,
          kind,
          hosts,
          value: text(open(handle, sealed, hosts.join(' '))),
        })),
      }
    })
}
