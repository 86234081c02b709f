/**
 * Marks the codes of a parsed mail and gives each a handle. It searches everything of a mail that an
 * agent may see: the texts of the mail and of its files, the names and addresses of people, and the names
 * of files.
 */
import { encodeBase64 } from '../../base64.ts'
import { visibleText } from '../../text/untrusted.ts'
import type { World } from '../../world.ts'
import type { CodePlace } from '../codes/code-places.ts'
import { findCodes } from '../codes/codes.ts'
import { isAlone } from '../codes/text-lines.ts'
import { type MailBody, type MailHead, type MarkedText, unmarked } from '../kept-mail.ts'
import type { IncomingMail } from './inbound-port.ts'
import type { ParsedFile, ParsedMail } from './parse.ts'

/** UTF-16 units that are kept of a text. For a longer text, its whole length is kept as well. */
const textLengthMax = 256 * 1024
/** UTF-16 units after that limit that are searched too, so that a secret at the cut is found whole. */
const beyondMax = 2_048
/** Maximum number of codes of a mail. Further ones share a handle that opens none; no mail needs more. */
const codesMax = 100
const handleSigns = '0123456789abcdefghijklmnopqrstuvwxyz'
const handleLength = 12

/** The parts of a mail, and the codes in them. */
export type MarkedMail = {
  head: MailHead
  body: Omit<MailBody, 'automatic'>
  codes: IncomingMail['codes']
  /** The records of its files. */
  attachments: Uint8Array[]
}

/** Marks the codes of a mail, with `isInUse` by form alone. A code that occurs in several places has one handle. */
export function markCodes(
  world: Pick<World, 'randomBytes'>,
  mail: ParsedMail,
  isInUse = false,
): MarkedMail {
  const whole = visibleText(mail.text)
  const body = whole.slice(0, textLengthMax + beyondMax)
  const names = [mail.from.name, ...mail.to.map(({ name }) => name)]
  const files = mail.attachments
  const fileTexts = files.map(({ text: one = '' }) => visibleText(one))
  const texts = [body, ...names, ...files.map((file) => file.name), ...fileTexts]
  const addresses = [mail.from, ...mail.to].map(({ address: one }) => one.toLowerCase())
  const places = findCodes({ subject: mail.subject, texts, authorName: 1, addresses, isInUse })
  const { named, handleOf } = namingCodes(world, mail.subject)
  const marked = (text: string, found: readonly CodePlace[] = []): MarkedText => ({
    text,
    places: found.map((one) => ({
      kind: one.kind,
      start: one.start,
      end: one.end,
      handle: handleOf(one, text),
    })),
  })
  const subject = marked(mail.subject, places.subject)
  const [text, name, ...rest] = texts.map((one, at) => marked(one, places.texts[at]))
  const [address, ...to] = addresses.map((one, at) => marked(one, places.addresses[at]))
  return {
    head: { name: name ?? unmarked(''), subject, ...(address && { address }) },
    body: {
      ...markedBody(mail, rest, to),
      text: { ...cutMarked(text ?? unmarked('')), length: whole.length },
    },
    codes: named(),
    attachments: files.map((file, at) => recordOf(file, rest[mail.to.length + files.length + at])),
  }
}

/** Returns the record of a file: its bytes, with the marked text if it has one. */
function recordOf({ content, text }: ParsedFile, marked: MarkedText | undefined): Uint8Array {
  if (text === undefined || !marked) return content
  const record = { content: encodeBase64(content), text: marked }
  return new TextEncoder().encode(JSON.stringify(record))
}

/** Returns how likely a code is the one that the mail was sent for; its place and form say so. */
function likelihoodOf({ kind, start, end, value }: CodePlace, text: string, subject: string) {
  if (kind === 'link') return 0
  const signs = [
    isAlone(text, { start, end }),
    subject.includes(value),
    /^\d{4,8}$/.test(value),
    value.length === 6,
  ]
  return 1 + signs.filter(Boolean).length
}

/** Gives codes handles. A code that occurs again keeps its handle; the likeliest codes come first. */
function namingCodes(world: Pick<World, 'randomBytes'>, subject: string) {
  const codes: (IncomingMail['codes'][number] & { likelihood: number })[] = []
  const known = new Map<string, (typeof codes)[number]>()
  const spare = newHandle(world)
  const handleOf = (place: CodePlace, text: string): string => {
    const { kind, value } = place
    const likelihood = likelihoodOf(place, text, subject)
    const before = known.get(`${kind} ${value}`)
    if (before) {
      before.likelihood = Math.max(before.likelihood, likelihood)
      return before.handle
    }
    if (codes.length === codesMax) return spare
    const code = { handle: newHandle(world), kind, value, likelihood }
    known.set(`${kind} ${value}`, code)
    codes.push(code)
    return code.handle
  }
  const named = () =>
    codes
      .toSorted((a, b) => b.likelihood - a.likelihood)
      .map(({ handle, kind, value }) => ({ handle, kind, value }))
  return { named, handleOf }
}

function markedBody(
  mail: ParsedMail,
  names: readonly MarkedText[],
  addresses: readonly MarkedText[],
) {
  const { date, messageId, inReplyTo, references, hiddenPieces, flaws } = mail
  const named = (at: number) => names[at] ?? unmarked('')
  return {
    to: mail.to.map((_, at) => ({ name: named(at), address: addresses[at] ?? unmarked('') })),
    ...(date === undefined ? {} : { date }),
    ...(messageId === undefined ? {} : { messageId }),
    ...(inReplyTo === undefined ? {} : { inReplyTo }),
    references,
    hiddenPieces,
    attachments: mail.attachments.map(({ type, content, reading }, at) => ({
      name: named(mail.to.length + at),
      type,
      size: content.length,
      reading,
    })),
    flaws,
  }
}

/** Cuts a text, but never within a code, whose beginning would then be left unmarked. */
function cutMarked({ text, places }: MarkedText) {
  const kept = places.filter(({ end }) => end <= textLengthMax)
  const across = places.find(({ start, end }) => start < textLengthMax && end > textLengthMax)
  const end = across?.start ?? textLengthMax
  return { text: text.slice(0, end).toWellFormed(), places: kept }
}

function newHandle(world: Pick<World, 'randomBytes'>): string {
  let handle = 'c_'
  while (handle.length < handleLength + 2) {
    // 252 is the last multiple of 36 in a byte. Higher values would favour the start of the alphabet.
    const [byte = 0] = world.randomBytes(1)
    if (byte < 252) handle += handleSigns.charAt(byte % handleSigns.length)
  }
  return handle
}
