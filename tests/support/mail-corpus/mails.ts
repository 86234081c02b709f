/**
 * Mails of about 600 products in some forty languages, and ordinary mails of the same and others, as they
 * were drawn once from templates: what is sent and how it is labelled is the products', the sentences and
 * secrets are ours. The templates were written by several hands, half of them before the recogniser; it was
 * then repaired on all of them, so its figures on new mails are lower.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { sealPlaces } from '../../../shared/mailbox/codes/code-places.ts'
import { findCodes } from '../../../shared/mailbox/codes/codes.ts'
import { htmlText } from '../../../shared/mailbox/html/html-text.ts'
import { visibleText } from '../../../shared/text/untrusted.ts'

const mailSchema = z.object({
  /** Product and line of the template. */
  from: z.string(),
  language: z.string(),
  subject: z.string(),
  text: z.string().optional(),
  html: z.string().optional(),
  /**
   * Codes and links that sign in or confirm; other secrets are passwords, keys, phrases, and numbers that pay
   * or open doors.
   */
  secrets: z.array(z.tuple([z.enum(['code', 'link', 'other']), z.string()])),
  /** Numbers and links that are not secret, in some mails beside a secret. */
  others: z.array(z.string()).optional(),
})
export type CorpusMail = z.output<typeof mailSchema>
export type SecretKind = CorpusMail['secrets'][number][0]

const file = fileURLToPath(new URL('mails.json', import.meta.url))
export const mails = z.array(mailSchema).parse(JSON.parse(readFileSync(file, 'utf8')))

/** Returns the subject and the text of a mail, as they are and as an agent reads them. */
export function readBothWays({ subject, text, html }: CorpusMail) {
  const shown = visibleText(text ?? htmlText(html ?? '').text)
  const places = findCodes({ subject, texts: [shown] })
  return [
    { original: subject, sealed: sealPlaces(subject, places.subject, () => 'c_x') },
    { original: shown, sealed: sealPlaces(shown, places.texts[0] ?? [], () => 'c_x') },
  ]
}

/** Removes spaces and hyphens, which serve only the eye. */
export const bare = (text: string) => text.normalize('NFKC').replaceAll(/[\s-]/g, '')

/** Returns true if the text holds a link, or a secret or five consecutive characters of it. */
export function isTold(secret: string, text: string): boolean {
  const [signs, told] = [bare(secret), bare(text)]
  if (/^https?:/.test(secret)) return told.includes(signs)
  const length = Math.min(5, signs.length)
  const parts = Array.from({ length: signs.length - length + 1 }, (_, at) =>
    signs.slice(at, at + length),
  )
  return parts.some((part) => told.includes(part))
}
