/**
 * What is sealed of a mail: a head, which lists are made of, and a body with the rest. Both hold what
 * a person may see, with the places of its codes; an agent is shown handles in those places.
 */
import * as z from 'zod'
import { sealPlaces } from './code-places.ts'

const place = z.object({
  kind: z.enum(['code', 'link']),
  start: z.int(),
  end: z.int(),
  /** Names the code to agents. */
  handle: z.string(),
})

const markedText = z.object({ text: z.string(), places: z.array(place) })

/** A text that may be cut: `length` is that of the whole, in UTF-16 units. */
const bodyText = markedText.extend({ length: z.int() })

/** Form of the record `<mail>/head`. */
export const mailHeadSchema = z.object({
  /** Of the author, as the author says it. */
  name: markedText,
  subject: markedText,
})

/** Form of the record `<mail>/body`. */
export const mailBodySchema = z.object({
  to: z.array(z.object({ name: markedText, address: z.string() })),
  /** Of the header Date, ISO 8601; a stranger's word. */
  date: z.string().optional(),
  messageId: z.string().optional(),
  inReplyTo: z.string().optional(),
  references: z.array(z.string()),
  text: bodyText,
  /** What a person would see of the HTML. */
  htmlText: bodyText,
  /** Pieces of the HTML that nobody would see, and that are not kept. */
  hiddenPieces: z.int(),
  /** In the order of the records `<mail>/attachment/<number>`, which count from 1. */
  attachments: z.array(z.object({ name: markedText, type: z.string(), size: z.int() })),
  /** Of `MailFlaw`. */
  flaws: z.array(z.string()),
  /** A program wrote it by itself (RFC 3834), or it tells of a mail that failed. */
  automatic: z.boolean(),
})

/** A text with the places of its codes. */
export type MarkedText = z.output<typeof markedText>
/** The head of a mail. */
export type MailHead = z.output<typeof mailHeadSchema>
/** The body of a mail. */
export type MailBody = z.output<typeof mailBodySchema>

/** The text as an agent may read it: a handle stands for each code. */
export function textForAgents({ text, places }: MarkedText): string {
  return sealPlaces(text, places, ({ handle }) => handle)
}
