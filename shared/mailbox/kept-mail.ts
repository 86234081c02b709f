/**
 * The sealed content of a mail: a head, from which lists are made, and a body with the rest. Both
 * contain what a person may see and the places of its codes. An agent is shown handles in those places.
 */
import * as z from 'zod'
import { sealPlaces } from './codes/code-places.ts'

const place = z.object({
  kind: z.enum(['code', 'link']),
  start: z.int(),
  end: z.int(),
  /** Identifies the code to agents. */
  handle: z.string(),
})

const markedText = z.object({ text: z.string(), places: z.array(place) })

/** Mails that were kept as plain addresses have no places in them. */
const address = z.union([markedText, z.string().transform(unmarked)])

/** A text that may be cut. `length` is that of the whole text, in UTF-16 units. */
const bodyText = markedText.extend({ length: z.int() })

/** Schema of the record `<mail>/head`. */
export const mailHeadSchema = z.object({
  /** Name of the author, as the author claims it. */
  name: markedText,
  subject: markedText,
  /** The author's address in lower case, of a mail that came in. */
  address: markedText.optional(),
})

/** Schema of the record `<mail>/body`. */
export const mailBodySchema = z.object({
  to: z.array(z.object({ name: markedText, address })),
  /** Value of the Date header in ISO 8601, which is a stranger's word. */
  date: z.string().optional(),
  messageId: z.string().optional(),
  inReplyTo: z.string().optional(),
  references: z.array(z.string()),
  text: bodyText,
  /** Number of invisible pieces of the HTML, which are not kept. */
  hiddenPieces: z.int(),
  /** Files in the order of the records `<mail>/attachment/<number>`, numbered from 1. */
  attachments: z.array(
    z.object({
      name: markedText,
      type: z.string(),
      size: z.int(),
      /** The record of a file that is read as text holds that text beside the bytes. */
      reading: z.enum(['text', 'bytes', 'withheld']).default('withheld'),
    }),
  ),
  /** Values of `MailFlaw`. */
  flaws: z.array(z.string()),
  /** True if a program or a list sent it (RFC 3834), or it is a notice about a mail that failed. */
  automatic: z.boolean(),
})

/** Schema of the record of a file that is read as text. */
export const textFileSchema = z.object({ content: z.string(), text: markedText })

/** A text with the places of its codes. */
export type MarkedText = z.output<typeof markedText>
/** The head of a mail. */
export type MailHead = z.output<typeof mailHeadSchema>
/** The body of a mail. */
export type MailBody = z.output<typeof mailBodySchema>

/** Returns the text that an agent may read, with a handle for each code. */
export function textForAgents({ text, places }: MarkedText): string {
  return sealPlaces(text, places, ({ handle }) => handle)
}

/** Returns a text without codes. */
export function unmarked(text: string): MarkedText {
  return { text, places: [] }
}
