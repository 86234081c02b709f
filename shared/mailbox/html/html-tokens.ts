/**
 * Splits HTML into text and tags as browsers do (HTML standard, section 13.2.5), as far as mails need
 * it. It takes time in proportion to the length and never throws. Anything that is not markup is text.
 */
import { decodeEntities } from './html-entities.ts'

/** Attributes by name in lower case. If a name occurs more than once, the first value counts. */
export type Attributes = ReadonlyMap<string, string>

/** A piece of the document. */
export type Token =
  | { kind: 'text'; text: string }
  | { kind: 'open'; name: string; attributes: Attributes }
  | { kind: 'close'; name: string }
  /** The content of an element that contains no markup: a style, or the text of a field. */
  | { kind: 'raw'; name: string; attributes: Attributes; text: string }

/** Elements whose content is no markup or is not shown. Only style and textarea produce a token. */
const rawNames = /^(script|style|textarea|title|xmp|iframe|noembed|noframes|template|svg|math)$/

/** The beginning of markup. Any other `<` is text. */
const markup = /<[a-z!?/]/gi
const tagName = /<\/?([a-z][^\s/>]*)/iy
const attribute = /[\s/]*([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?/y

/** Returns the tokens in order. */
export function tokensOf(html: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < html.length) {
    markup.lastIndex = at
    const start = markup.exec(html)?.index
    const end = start ?? html.length
    if (end > at) tokens.push({ kind: 'text', text: decodeEntities(html.slice(at, end)) })
    at = start === undefined ? end : readMarkup(html, start, tokens)
  }
  return tokens
}

/** Reads the markup that begins with `<`, and returns where it ends. */
function readMarkup(html: string, start: number, tokens: Token[]): number {
  tagName.lastIndex = start
  const name = tagName.exec(html)?.[1]?.toLowerCase()
  if (name !== undefined) return readTag(html, start, name, tokens)
  if (html.startsWith('<!--', start)) return endOfComment(html, start)
  return after(html, '>', start)
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

/** Reads attributes up to after `>`. Without a `>` the end is beyond the document, and there is no tag. */
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
