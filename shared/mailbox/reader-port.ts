/** What the receiver of mail asks of the function that reads it, and the form of what it answers. */
import * as z from 'zod'
import { decodeBytes, encodeBase64 } from '../base64.ts'
import type { IncomingMail } from './inbound-port.ts'
import { mailBodySchema, mailHeadSchema } from './kept-mail.ts'
import type { MailRefusal } from './parse-refusals.ts'
import { mailRefusals } from './parse-refusals.ts'

/** Reads mails; it is reached by service binding. */
export type MailReaderPort = { fetch(request: Request): Promise<Response> }

/** What is read of a mail once it is known where it is from. */
export type MailContent = Pick<
  IncomingMail,
  'head' | 'body' | 'codes' | 'codeHosts' | 'attachments'
>

/** The header in which the reader is told where a mail is from, JSON in base64url. */
export const originHeader = 'x-mail-origin'

/** What the reader is told of that. */
export const readerOriginSchema = z.object({
  from: z.string(),
  isOwn: z.boolean(),
  automatic: z.boolean(),
  provenDomain: z.string().optional(),
})
/** What the reader is told of where a mail is from. */
export type ReaderOrigin = z.output<typeof readerOriginSchema>

const refusals = Object.keys(mailRefusals)
const isRefusal = (text: string): text is MailRefusal => refusals.includes(text)
const answerSchema = z.union([
  z.object({ refused: z.string().refine(isRefusal) }),
  z.object({
    head: mailHeadSchema,
    body: mailBodySchema,
    codes: z.array(
      z.object({ handle: z.string(), kind: z.enum(['code', 'link']), value: z.string() }),
    ),
    codeHosts: z.array(z.string()),
    attachments: z.array(z.string()),
  }),
])

/** The answer as JSON, files in base64. */
export function writeContent(read: MailContent | { refused: MailRefusal }): unknown {
  return 'refused' in read
    ? read
    : { ...read, attachments: read.attachments.map((file) => encodeBase64(file)) }
}

/** Reads the answer again; throws for anything else. */
export function readContent(answer: unknown): MailContent | { refused: MailRefusal } {
  const read = answerSchema.parse(answer)
  return 'refused' in read ? read : { ...read, attachments: read.attachments.map(bytesOf) }
}

function bytesOf(text: string): Uint8Array {
  const bytes = decodeBytes(text)
  if (!bytes) throw new Error('a file of a mail cannot be read')
  return bytes
}
