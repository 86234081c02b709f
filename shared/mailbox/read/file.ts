/** Returns a page of a file of a mail: of its text, or of any other file's bytes. */
import { encodeBase64 } from '../../base64.ts'
import type { Untrusted } from '../../mail/untrusted.ts'
import type { MailFile } from '../port.ts'
import { pageOf } from './text-page.ts'

/** Size of a page of bytes. It is a multiple of 3, so that pages of base64 can be joined. */
const pageBytes = 96 * 1024

/** A page of a file, and the offset of the next page. */
export type FilePage = { next: number | null } & (
  | { untrusted: Untrusted }
  | { content_base64: string }
)

/** Returns the page at an offset, which counts characters of a text and bytes of any other file. */
export function filePage({ text, content }: MailFile, from: string, offset: number): FilePage {
  if (text !== undefined) {
    const { page, next } = pageOf({ from, text }, offset)
    return { untrusted: page, next }
  }
  const end = offset + pageBytes
  const content_base64 = encodeBase64(content.subarray(offset, end))
  return { content_base64, next: end < content.length ? end : null }
}
