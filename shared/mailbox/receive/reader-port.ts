/** The interface between the receiver of mail and the function that reads it, and its answer's schema. */
import * as z from 'zod'
import { decodeBytes, encodeBase64 } from '../../base64.ts'
import { mailBodySchema, mailHeadSchema } from '../kept-mail.ts'
import type { IncomingMail } from './inbound-port.ts'
import { type MailRefusal, mailRefusals } from './parse-refusals.ts'

/** The function that reads mails, reached by service binding. */
export type MailReaderPort = { fetch(request: Request): Promise<Response> }

/** The content that is read from a mail after its origin is known. */
export type MailContent = Pick<
  IncomingMail,
  'head' | 'body' | 'codes' | 'codeHosts' | 'attachments'
>

/** The header that tells the reader where a mail is from, as JSON in base64url. */
export const originHeader = 'x-mail-origin'

/** Schema of the origin in that header. */
export const readerOriginSchema = z.object({
  from: z.string(),
  isOwn: z.boolean(),
  automatic: z.boolean(),
  /** True if a login at the proven domain is in use, so that its codes are found by form alone. */
  isInUse: z.boolean(),
  provenDomain: z.string().optional(),
})
/** The origin of a mail as the reader is told. */
export type ReaderOrigin = z.output<typeof readerOriginSchema>

const refusals = Object.keys(mailRefusals)
const isMailRefusal = (text: string): text is MailRefusal => refusals.includes(text)
const answerSchema = z.union([
  z.object({ refused: z.string().refine(isMailRefusal) }),
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

/** Returns the answer as JSON, with files in base64. */
export function writeContent(read: MailContent | { refused: MailRefusal }): unknown {
  return 'refused' in read
    ? read
    : { ...read, attachments: read.attachments.map((file) => encodeBase64(file)) }
}

/** Parses the answer. Throws for anything else. */
export function readContent(answer: unknown): MailContent | { refused: MailRefusal } {
  const read = answerSchema.parse(answer)
  return 'refused' in read ? read : { ...read, attachments: read.attachments.map(bytesOf) }
}

function bytesOf(text: string): Uint8Array {
  const bytes = decodeBytes(text)
  if (!bytes) throw new Error('a file of a mail cannot be read')
  return bytes
}
