/** Reads a mail that the local SMTP server caught. */
import PostalMime from 'postal-mime'
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import * as z from 'zod'

/** A caught mail. */
export type CaughtMail = {
  /** Sequence number, from 1. */
  number: number
  from: string
  to: readonly string[]
  subject: string
  text: string
  html: string
  /** Headers as they came, by name in lower case. */
  headers: Readonly<Record<string, string>>
  /** The whole message as it came, one character for each byte. */
  raw: string
}

/** Collects the bytes that a client sends after DATA. */
export async function readBytes(stream: SMTPServerDataStream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(z.instanceof(Uint8Array).parse(chunk))
  return Buffer.concat(chunks)
}

/** Reads a mail for the outbox page. */
export async function readMail(
  raw: Uint8Array,
  { envelope }: SMTPServerSession,
): Promise<Omit<CaughtMail, 'number'>> {
  const mail = await PostalMime.parse(raw)
  return {
    from: mail.from?.address ?? '',
    to: envelope.rcptTo.map(({ address }) => address),
    subject: mail.subject ?? '',
    text: mail.text ?? '',
    html: mail.html ?? '',
    headers: Object.fromEntries(mail.headers.map(({ key, value }) => [key, value])),
    raw: Buffer.from(raw).toString('latin1'),
  }
}
