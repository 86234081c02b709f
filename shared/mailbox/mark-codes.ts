/**
 * Marks the codes of a mail that was read and gives each a handle. Everything that an agent may be
 * shown of a mail is looked through: the texts, and the names of people and files.
 */

import { visibleText } from '../mail/untrusted.ts'
import type { World } from '../world.ts'
import type { CodePlace } from './code-places.ts'
import { findCodes } from './codes.ts'
import type { IncomingMail } from './inbound-port.ts'
import type { MailBody, MailHead, MarkedText } from './kept-mail.ts'
import type { ParsedMail } from './parse.ts'

/** UTF-16 units that are kept of a text; of more its length is kept. */
const textLengthMax = 256 * 1024
/** What stands behind that is looked at as well, so that no secret at the end is cut before it is seen. */
const beyondMax = 2_048
/** Further ones of a mail are sealed under a handle that opens none: nobody is sent so many. */
const codesMax = 100
const handleSigns = '0123456789abcdefghijklmnopqrstuvwxyz'
const handleLength = 12

/** A mail in its parts, and the codes that stand in them. */
export type MarkedMail = {
  head: MailHead
  body: Omit<MailBody, 'automatic'>
  codes: IncomingMail['codes']
}

/** Marks the codes of a mail. One that stands in several places has one handle. */
export function markCodes(world: Pick<World, 'randomBytes'>, mail: ParsedMail): MarkedMail {
  const wholes = [visibleText(mail.text), visibleText(mail.htmlText)]
  const bodies = wholes.map((text) => text.slice(0, textLengthMax + beyondMax))
  const names = [mail.from.name, ...mail.to.map(({ name }) => name)]
  const files = mail.attachments.map(({ name }) => name)
  const texts = [...bodies, ...names, ...files]
  const places = findCodes({ subject: mail.subject, texts })
  const { codes, handleOf } = namingCodes(world)
  const marked = (text: string, found: readonly CodePlace[] = []): MarkedText => ({
    text,
    places: found.map((one) => ({
      kind: one.kind,
      start: one.start,
      end: one.end,
      handle: handleOf(one),
    })),
  })
  const subject = marked(mail.subject, places.subject)
  const [text, htmlText, name, ...rest] = texts.map((one, at) => marked(one, places.texts[at]))
  const nothing = marked('')
  return {
    head: { name: name ?? nothing, subject },
    body: {
      ...bodyOf(mail, rest),
      text: { ...cut(text ?? nothing), length: wholes[0]?.length ?? 0 },
      htmlText: { ...cut(htmlText ?? nothing), length: wholes[1]?.length ?? 0 },
    },
    codes,
  }
}

/** Names codes as they come; one that comes again has the name that it has. */
function namingCodes(world: Pick<World, 'randomBytes'>) {
  const codes: IncomingMail['codes'] = []
  const handles = new Map<string, string>()
  const spare = newHandle(world)
  const handleOf = ({ kind, value }: CodePlace): string => {
    const key = `${kind} ${value}`
    const known = handles.get(key)
    if (known !== undefined) return known
    if (codes.length === codesMax) return spare
    const handle = newHandle(world)
    handles.set(key, handle)
    codes.push({ handle, kind, value })
    return handle
  }
  return { codes, handleOf }
}

function bodyOf(mail: ParsedMail, names: readonly MarkedText[]) {
  const { date, messageId, inReplyTo, references, hiddenPieces, flaws } = mail
  const named = (at: number) => names[at] ?? { text: '', places: [] }
  return {
    to: mail.to.map(({ address }, at) => ({ name: named(at), address })),
    ...(date === undefined ? {} : { date }),
    ...(messageId === undefined ? {} : { messageId }),
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
    references,
    hiddenPieces,
    attachments: mail.attachments.map(({ type, size }, at) => ({
      name: named(mail.to.length + at),
      type,
      size,
    })),
    flaws,
  }
}

/** Never within a code, of which the beginning would then be left unmarked. */
function cut({ text, places }: MarkedText) {
  const kept = places.filter(({ end }) => end <= textLengthMax)
  const across = places.find(({ start, end }) => start < textLengthMax && end > textLengthMax)
  const end = across?.start ?? textLengthMax
  return { text: text.slice(0, end).toWellFormed(), places: kept }
}

function newHandle(world: Pick<World, 'randomBytes'>): string {
  let handle = 'c_'
  while (handle.length < handleLength + 2) {
    // Bytes beyond the last whole round of the alphabet would favour its beginning.
    const [byte = 0] = world.randomBytes(1)
    if (byte < 252) handle += handleSigns.charAt(byte % handleSigns.length)
  }
  return handle
}
