/**
 * The readable text of an HTML mail, without a DOM: what a person would see, block by block. Text
 * that is there but not to be seen is left out and counted, since it speaks to machines alone. Links
 * show where they lead: `[text](url)`, with the host that is really called.
 */
import type { Look, Rules } from './html-style.ts'
import { isSeen, lookWithin, plainLook, rulesOf } from './html-style.ts'
import type { Attributes, Token } from './html-tokens.ts'
import { tokensOf } from './html-tokens.ts'

/** The text, and how many pieces of it were hidden and left out. */
export type HtmlText = { text: string; hiddenPieces: number }

type Element = { name: string; look: Look; link?: { url: string; start: number } }
type Page = { pieces: string[]; hiddenPieces: number; open: Element[]; rules: Rules }

/** Elements deeper than this count as belonging to the last one above. */
const depthMax = 256

const voids = /^(area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)$/
const paragraphs = /^(p|h[1-6]|table|ul|ol|blockquote|pre|hr)$/
const lines =
  /^(div|tr|li|dt|dd|center|section|article|header|footer|main|aside|nav|form|body|address)$/
const cells = /^(td|th)$/

/** Elements that the beginning of another ends (HTML standard, section 13.1.2.4), and up to where. */
const endedBy: readonly { by: RegExp; ends: RegExp; within: RegExp }[] = [
  { by: /^(td|th)$/, ends: /^(td|th)$/, within: /^(tr|table)$/ },
  { by: /^tr$/, ends: /^tr$/, within: /^table$/ },
  { by: /^li$/, ends: /^li$/, within: /^(ul|ol|table)$/ },
  { by: /^(dt|dd)$/, ends: /^(dt|dd)$/, within: /^(dl|table)$/ },
  { by: /^a$/, ends: /^a$/, within: /^(table|td|th)$/ },
  {
    by: new RegExp(`${paragraphs.source}|${lines.source}`),
    ends: /^p$/,
    within: /^(table|td|th|div)$/,
  },
]

/** Reads a mail's HTML; anything that is no HTML is text. */
export function htmlText(html: string): HtmlText {
  const tokens = tokensOf(html)
  const css = tokens.flatMap((token) => (token.kind === 'style' ? [token.text] : []))
  const page: Page = { pieces: [], hiddenPieces: 0, open: [], rules: rulesOf(css.join('\n')) }
  for (const token of tokens) read(page, token)
  while (page.open.length > 0) closeLast(page)
  const text = page.pieces
    .join('')
    .replaceAll(/ +\n/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
  return { text: text.trim(), hiddenPieces: page.hiddenPieces }
}

function read(page: Page, token: Token): void {
  if (token.kind === 'text') write(page, token.text)
  else if (token.kind === 'open') open(page, token)
  else if (token.kind === 'close') close(page, token.name)
}

function write(page: Page, text: string): void {
  const words = text.replaceAll(/[ \t\r\n\f]+/g, ' ')
  if (!isSeen(lookOf(page))) {
    if (/[\p{L}\p{N}]/u.test(words)) page.hiddenPieces += 1
    return
  }
  append(page, isAfter(page, /^$|\s$/) ? words.trimStart() : words)
}

function append(page: Page, piece: string): void {
  if (piece !== '') page.pieces.push(piece)
}

function isAfter(page: Page, pattern: RegExp): boolean {
  return pattern.test(page.pieces.at(-1)?.slice(-1) ?? '')
}

function lookOf(page: Page): Look {
  return page.open.at(-1)?.look ?? plainLook
}

function open(page: Page, element: { name: string; attributes: Attributes }): void {
  const { name, attributes } = element
  endOpen(page, name)
  layOut(page, name)
  const look = lookWithin(lookOf(page), element, page.rules)
  if (voids.test(name)) {
    if (isSeen(look)) write(page, shownBy(name, attributes))
    return
  }
  if (page.open.length >= depthMax) return
  const url = name === 'a' ? linkTarget(attributes.get('href') ?? '') : undefined
  page.open.push({ name, look, ...(url && { link: { url, start: page.pieces.length } }) })
}

/** What an element without content shows. */
function shownBy(name: string, attributes: Attributes): string {
  if (name === 'img') return attributes.get('alt') ?? ''
  const isField = name === 'input' && attributes.get('type')?.toLowerCase() !== 'hidden'
  return isField ? (attributes.get('value') ?? '') : ''
}

function endOpen(page: Page, name: string): void {
  for (const { by, ends, within } of endedBy) {
    if (by.test(name)) closeUntil(page, (one) => ends.test(one), within)
  }
}

function close(page: Page, name: string): void {
  const isPartOfTable = /^(table|tbody|thead|tfoot|tr|td|th)$/.test(name)
  const within = isPartOfTable ? /^$/ : /^(table|td|th)$/
  closeUntil(page, (one) => one === name, within)
  layOut(page, name)
}

/** Closes up to the last element of that kind, unless another keeps it from being reached. */
function closeUntil(page: Page, isWanted: (name: string) => boolean, within: RegExp): void {
  for (let at = page.open.length - 1; at >= 0; at -= 1) {
    const name = page.open[at]?.name ?? ''
    if (isWanted(name)) {
      while (page.open.length > at) closeLast(page)
      return
    }
    if (within.test(name)) return
  }
}

function closeLast(page: Page): void {
  const { link } = page.open.pop() ?? {}
  if (!link) return
  const inside = page.pieces.slice(link.start).join('')
  const words = inside.replaceAll('[', '(').replaceAll(']', ')').replaceAll(/\s+/g, ' ').trim()
  // Nothing to see is nothing to press.
  if (words === '') return
  page.pieces.length = link.start
  append(page, /^\s*/.exec(inside)?.[0] ?? '')
  append(page, `[${words}](${link.url})`)
}

function layOut(page: Page, name: string): void {
  if (name === 'br') append(page, '\n')
  else if (paragraphs.test(name)) append(page, '\n\n')
  else if (lines.test(name)) append(page, isAfter(page, /\n$/) ? '' : '\n')
  else if (cells.test(name)) append(page, isAfter(page, /\s$/) ? '' : ' ')
}

/** Where a link leads, in the form that is called; nothing for what is no address of another place. */
function linkTarget(href: string): string | undefined {
  const url = URL.parse(href.trim())
  if (!url || /^(javascript|vbscript|data|blob|file|about|cid):$/.test(url.protocol))
    return undefined
  // A name before the host is there to be taken for the host.
  url.username = ''
  url.password = ''
  return url.href.replaceAll('(', '%28').replaceAll(')', '%29')
}
