import type { Handler } from '../../shared/http/handler.ts'
import { filePage } from '../../shared/mailbox/read/view.ts'
import { callVault } from '../../shared/vault/ask.ts'
import type { mailRead } from './contract.ts'

/** Reads one mail through the vault or, with `attachment`, one page of that file. */
export const run: Handler<typeof mailRead> = async (input, { world, credential }) => {
  const { mail_id: mail, attachment } = input
  const offset = Number(input.offset ?? 0)
  const number = attachment === undefined ? undefined : Number(attachment)
  const read = await callVault(world, (vault) =>
    vault.readMail(credential, { mail, attachment: number, offset }),
  )
  if (!read.file) return read.mail
  const { subject } = read.mail.untrusted
  const { next, ...content } = filePage(read.file, subject.from, offset)
  const untrusted =
    'untrusted' in content ? { subject, attachment: content.untrusted } : { subject }
  return { ...read.mail, ...content, untrusted, next_offset: next }
}
