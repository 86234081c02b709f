/**
 * Extracts the readable text of an HTML mail without a DOM: what a person would see, block by block.
 * Hidden text is left out and counted, because it addresses only machines. Links show where they lead:
 * `[text](url)`, with the host that is really called.
 */
import { trimEndOf } from '../../text/untrusted.ts'
import {
  type Attributes,
  isSeen,
  type Look,
  lookWithin,
  plainLook,
  type Rules,
  rulesOf,
  type Token,
  tokensOf,
} from './html-style.ts'

/** The text, and the number of hidden pieces that were left out. */
export type HtmlText = { text: string; hiddenPieces: number }

type Element = { name: string; look: Look; link?: Link }
/** An open link. `start` is the number of pieces before it, `before` the number of characters in them. */
type Link = { url: string; start: number; before: number }
type Page = {
  pieces: string[]
  /** Number of characters in the pieces. */
  length: number
  hiddenPieces: number
  open: Element[]
  /** Positions in `open` of the elements of each name. A lookup takes the same time at any depth. */
  places: Map<string, number[]>
  rules: Rules
  /** Number of open elements whose content is not shown. */
  inert: number
}

/** Maximum depth. Deeper elements count as part of the last one above. */
const depthMax = 256
/** Maximum length of a link's text. A longer one is not a button; the link is written after its content. */
const linkLengthMax = 2_000

const namesOf = (list: string): ReadonlySet<string> => new Set(list.split(' '))
const inert = namesOf('script style title template svg math iframe noembed noframes')
const voids = namesOf('area base br col embed hr img input link meta param source track wbr')
const paragraphs = namesOf('p h1 h2 h3 h4 h5 h6 table ul ol blockquote pre hr')
const lines = namesOf(
  'div tr li dt dd center section article header footer main aside nav form body address',
)
const cells = namesOf('td th')
const partsOfTables = namesOf('table tbody thead tfoot tr td th')
const table = namesOf('table')
const tableOrCell = namesOf('table td th')
const nothing: ReadonlySet<string> = new Set()

/** Elements that the start of another one closes (HTML standard, section 13.1.2.4), and the limits. */
const endedBy: readonly Record<'by' | 'ends' | 'within', ReadonlySet<string>>[] = [
  { by: cells, ends: cells, within: namesOf('tr table') },
  { by: namesOf('tr'), ends: namesOf('tr'), within: table },
  { by: namesOf('li'), ends: namesOf('li'), within: namesOf('ul ol table') },
  { by: namesOf('dt dd'), ends: namesOf('dt dd'), within: namesOf('dl table') },
  { by: namesOf('a'), ends: namesOf('a'), within: tableOrCell },
  {
    by: new Set([...paragraphs, ...lines]),
    ends: namesOf('p'),
    within: namesOf('table td th div'),
  },
]

const ending = Map.groupBy(
  endedBy.flatMap((rule) => [...rule.by].map((by) => ({ ...rule, by }))),
  ({ by }) => by,
)

/** Reads the HTML of a mail. Anything that is not HTML is text. */
export function htmlText(html: string): HtmlText {
  const tokens = tokensOf(html)
  const css = tokens.flatMap((token, at) => {
    const before = tokens[at - 1]
    const isStyle = before?.kind === 'open' && before.name === 'style'
    return isStyle && token.kind === 'text' ? [token.text] : []
  })
  const rules = rulesOf(css.join('\n'))
  const page: Page = {
    pieces: [],
    length: 0,
    hiddenPieces: 0,
    open: [],
    places: new Map(),
    rules,
    inert: 0,
  }
  for (const token of tokens) readToken(page, token)
  while (page.open.length > 0) closeLast(page)
  const written = page.pieces.join('').split('\n')
  const text = written.map((line) => trimEndOf(line, ' ')).join('\n')
  return { text: text.replaceAll(/\n{3,}/g, '\n\n').trim(), hiddenPieces: page.hiddenPieces }
}

function readToken(page: Page, token: Token): void {
  if (token.kind === 'text') write(page, token.text)
  else if (token.kind === 'open') openElement(page, token)
  else if (token.kind === 'close') close(page, token.name)
}

function write(page: Page, text: string): void {
  if (page.inert > 0) return
  const words = text.replaceAll(/[ \t\r\n\f]+/g, ' ')
  if (!isSeen(lookOf(page))) {
    if (/[\p{L}\p{N}]/u.test(words)) page.hiddenPieces += 1
    return
  }
  append(page, isAfter(page, /^$|\s$/) ? words.trimStart() : words)
}

function append(page: Page, piece: string): void {
  if (piece === '') return
  page.pieces.push(piece)
  page.length += piece.length
}

function isAfter(page: Page, pattern: RegExp): boolean {
  return pattern.test(page.pieces.at(-1)?.slice(-1) ?? '')
}

function lookOf(page: Page): Look {
  return page.open.at(-1)?.look ?? plainLook
}

function openElement(page: Page, element: { name: string; attributes: Attributes }): void {
  const { name, attributes } = element
  endOpen(page, name)
  layOut(page, name)
  const look = lookWithin(lookOf(page), element, page.rules)
  if (voids.has(name)) {
    if (isSeen(look)) write(page, shownBy(name, attributes))
    return
  }
  if (inert.has(name)) page.inert += 1
  else if (page.open.length >= depthMax) return
  const url = name === 'a' ? linkTarget(attributes.get('href') ?? '') : undefined
  const places = page.places.get(name)
  if (places) places.push(page.open.length)
  else page.places.set(name, [page.open.length])
  page.open.push({
    name,
    look,
    ...(url && { link: { url, start: page.pieces.length, before: page.length } }),
  })
}

/** Returns the text that a void element shows. */
function shownBy(name: string, attributes: Attributes): string {
  if (name === 'img') return attributes.get('alt') ?? ''
  const isField = name === 'input' && attributes.get('type')?.toLowerCase() !== 'hidden'
  return isField ? (attributes.get('value') ?? '') : ''
}

function endOpen(page: Page, name: string): void {
  for (const { ends, within } of ending.get(name) ?? []) closeUntil(page, ends, within)
}

function close(page: Page, name: string): void {
  closeUntil(page, new Set([name]), partsOfTables.has(name) ? nothing : tableOrCell)
  layOut(page, name)
}

/** Closes up to the last element of these names, unless an element of `within` is open inside it. */
function closeUntil(page: Page, names: ReadonlySet<string>, within: ReadonlySet<string>): void {
  const wanted = lastPlace(page, names)
  // An element that is in both sets is closed.
  if (wanted === -1 || wanted < lastPlace(page, within)) return
  while (page.open.length > wanted) closeLast(page)
}

/** Returns the position in `open` of the last element of these names, or -1. */
function lastPlace({ places }: Page, names: ReadonlySet<string>): number {
  let last = -1
  for (const name of names) last = Math.max(last, places.get(name)?.at(-1) ?? -1)
  return last
}

function closeLast(page: Page): void {
  const { name = '', link } = page.open.pop() ?? {}
  page.places.get(name)?.pop()
  if (inert.has(name)) page.inert -= 1
  if (!link) return
  if (page.length - link.before > linkLengthMax) {
    append(page, `[](${link.url})`)
    return
  }
  const inside = page.pieces.slice(link.start).join('')
  const words = inside.replaceAll('[', '(').replaceAll(']', ')').replaceAll(/\s+/g, ' ').trim()
  // A link without visible text cannot be clicked.
  if (words === '') return
  page.pieces.length = link.start
  page.length = link.before
  append(page, /^\s*/.exec(inside)?.[0] ?? '')
  append(page, `[${words}](${link.url})`)
}

function layOut(page: Page, name: string): void {
  if (name === 'br') append(page, '\n')
  else if (paragraphs.has(name)) append(page, '\n\n')
  else if (lines.has(name)) append(page, isAfter(page, /\n$/) ? '' : '\n')
  else if (cells.has(name)) append(page, isAfter(page, /\s$/) ? '' : ' ')
}

/** Returns the normalized address that a link calls; undefined for none, or a scheme such as data. */
function linkTarget(href: string): string | undefined {
  const url = URL.parse(href.trim())
  if (!url || /^(javascript|vbscript|data|blob|file|about|cid):$/.test(url.protocol))
    return undefined
  // A user name before the host could be mistaken for the host.
  url.username = ''
  url.password = ''
  return url.href.replaceAll('(', '%28').replaceAll(')', '%29')
}
