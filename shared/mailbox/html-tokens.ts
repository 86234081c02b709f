/**
 * Splits HTML into text and tags as browsers do (HTML standard, section 13.2.5), as far as a mail
 * needs it. It takes time in proportion to the length and never throws; what is no markup is text.
 */
import { decodeEntities } from './html-entities.ts'

/** Attributes by their names in lower case; of several with one name the first counts. */
export type Attributes = ReadonlyMap<string, string>

/** A piece of the document. */
export type Token =
  | { kind: 'text'; text: string }
  | { kind: 'open'; name: string; attributes: Attributes }
  | { kind: 'close'; name: string }
  /** What stands in an element whose content is no markup: a style, or the text of a field. */
  | { kind: 'raw'; name: string; attributes: Attributes; text: string }

/** Elements whose content is no markup, or is not shown; only that of two is of use. */
const rawNames = /^(script|style|textarea|title|xmp|iframe|noembed|noframes|template|svg|math)$/

const tagName = /<\/?([a-z][^\s/>]*)/iy
const attribute = /[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?/y

/** The pieces in their order. */
export function tokensOf(html: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < html.length) {
    const start = html.indexOf('<', at)
    const end = start === -1 ? html.length : start
    if (end > at) tokens.push({ kind: 'text', text: decodeEntities(html.slice(at, end)) })
    at = start === -1 ? end : readMarkup(html, start, tokens)
  }
  return tokens
}

/** Reads what begins with `<` and answers where it ends. */
function readMarkup(html: string, start: number, tokens: Token[]): number {
  tagName.lastIndex = start
  const name = tagName.exec(html)?.[1]?.toLowerCase()
  if (name !== undefined) return readTag(html, start, name, tokens)
  if (html.startsWith('<!--', start)) return endOfComment(html, start)
  if (/[!?/]/.test(html.charAt(start + 1))) return after(html, '>', start)
  tokens.push({ kind: 'text', text: '<' })
  return start + 1
}

function readTag(html: string, start: number, name: string, tokens: Token[]): number {
  const isClosing = html.charAt(start + 1) === '/'
  const { attributes, end } = readAttributes(html, tagName.lastIndex)
  if (end > html.length) return html.length
  if (isClosing) tokens.push({ kind: 'close', name })
  else if (!rawNames.test(name)) tokens.push({ kind: 'open', name, attributes })
  else return readRaw(html, end, { name, attributes }, tokens)
  return end
}

/** Ends after `>`; beyond the document where there is none, which makes it no tag. */
function readAttributes(html: string, start: number): { attributes: Attributes; end: number } {
  const attributes = new Map<string, string>()
  attribute.lastIndex = start
  for (let at = start; ; at = attribute.lastIndex) {
    const found = attribute.exec(html)
    if (!found) {
      const close = html.indexOf('>', at)
      return { attributes, end: close === -1 ? html.length + 1 : close + 1 }
    }
    const [, name = '', double, single, bare] = found
    const key = name.toLowerCase()
    if (!attributes.has(key)) attributes.set(key, decodeEntities(double ?? single ?? bare ?? ''))
  }
}

type Element = { name: string; attributes: Attributes }

function readRaw(html: string, start: number, element: Element, tokens: Token[]): number {
  const { name } = element
  const closing = new RegExp(`</${name}[\\s/>]`, 'gi')
  closing.lastIndex = start
  const found = closing.exec(html)
  const text = html.slice(start, found?.index)
  if (name === 'style') tokens.push({ kind: 'raw', ...element, text })
  if (name === 'textarea') tokens.push({ kind: 'raw', ...element, text: decodeEntities(text) })
  return found ? after(html, '>', found.index) : html.length
}

function endOfComment(html: string, start: number): number {
  const empty = /<!--(>|->)/y
  empty.lastIndex = start
  if (empty.test(html)) return empty.lastIndex
  const end = /--!?>/g
  end.lastIndex = start + 4
  return end.test(html) ? end.lastIndex : html.length
}

function after(html: string, mark: string, start: number): number {
  const at = html.indexOf(mark, start)
  return at === -1 ? html.length : at + mark.length
}
