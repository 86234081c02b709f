/**
 * Reads the styles of a mail that decide whether a text can be seen: style attributes, and rules with
 * one plain selector. Rules for some screens only and selectors that need the whole tree are left out.
 */
import { Tokenizer } from 'htmlparser2'

/** The look of text within an element, as far as it matters for visibility. */
export type Look = {
  /** True if the element and everything in it take no space, whatever the styles of the inner elements. */
  isGone: boolean
  isInvisible: boolean
  fontPixels: number
  /** Undefined if not known. An unknown color counts as different from every other. */
  color: Color | undefined
  background: Color | undefined
}

/** Rules by selector: `td`, `.name`, `td.name` or `#id`; and what elements were found to say of their look. */
export type Rules = { blocks: ReadonlyMap<string, Declarations>; known: Map<string, OwnLook> }

type Element = { name: string; attributes: Attributes }
type OwnLook = {
  isGone: boolean
  visibility: string | undefined
  size: string | undefined
  color: Color | 'inherit' | undefined
  background: Color | 'inherit' | undefined
}

type Declarations = ReadonlyMap<string, string>
type Color = readonly [red: number, green: number, blue: number]

/** Black on white, in the usual size. */
export const plainLook: Look = {
  isGone: false,
  isInvisible: false,
  fontPixels: 16,
  color: [0, 0, 0],
  background: [255, 255, 255],
}

const fontPixelsMin = 3
/** Difference, summed over red, green and blue, below which text is not readable. */
const contrastMin = 30
const rulesMax = 2_000
/** Maximum length of a value. The rest does not affect visibility. */
const valueLengthMax = 100
/** Properties that are read. Others are skipped, so that an element costs the same under any rules. */
const properties = new Set(
  `background background-color clip color display font-size height left max-height max-width
  mso-hide opacity overflow position text-indent top visibility width`.split(/\s+/),
)

/** Returns true if text of this look can be seen. */
export function isSeen({ isGone, isInvisible, fontPixels, color, background }: Look): boolean {
  return !isGone && !isInvisible && fontPixels >= fontPixelsMin && contrast(color, background)
}

function contrast(one: Color | undefined, other: Color | undefined): boolean {
  if (!one || !other) return true
  return one.reduce((sum, part, at) => sum + Math.abs(part - (other[at] ?? 0)), 0) >= contrastMin
}

/** Reads the rules of a style element. */
export function rulesOf(css: string): Rules {
  const rules = new Map<string, Declarations>()
  const read = { blocks: rules, known: new Map<string, OwnLook>() }
  for (const [selectors, body] of blocksOf(withoutComments(css))) {
    const declarations = declarationsOf(body)
    for (const selector of selectors.split(',').map((one) => one.trim())) {
      if (rules.size >= rulesMax) return read
      if (!/^(?:\w+|\w*\.[\w-]+|#[\w-]+)$/.test(selector)) continue
      rules.set(selector, new Map([...(rules.get(selector) ?? []), ...declarations]))
    }
  }
  return read
}

function withoutComments(css: string): string {
  const [first = '', ...others] = css.split('/*')
  const kept = others.map((piece) => (piece.includes('*/') ? piece.split('*/').slice(1) : []))
  return [first, ...kept.map((pieces) => pieces.join('*/'))].join('')
}

/** Returns each top-level block with its selectors. Blocks of at-rules are skipped. */
function blocksOf(css: string): [string, string][] {
  const blocks: [string, string][] = []
  let [depth, start, open] = [0, 0, 0]
  for (const { 0: brace, index } of css.matchAll(/[{}]/g)) {
    depth = Math.max(0, depth + (brace === '{' ? 1 : -1))
    if (brace === '{' && depth === 1) open = index
    if (brace === '{' || depth > 0) continue
    const before = css.slice(start, open).split(';').at(-1) ?? ''
    if (!before.includes('@')) blocks.push([before, css.slice(open + 1, index)])
    start = index + 1
    open = start
  }
  return blocks
}

/** Returns the look of an element within another. */
export function lookWithin(
  outer: Look,
  element: { name: string; attributes: Attributes },
  rules: Rules,
): Look {
  const own = ownLook(element, rules)
  if (own === undefined) return outer
  return {
    isGone: outer.isGone || own.isGone,
    isInvisible: isInvisible(own.visibility, outer.isInvisible),
    fontPixels: fontPixels(own.size, outer.fontPixels),
    color: own.color === 'inherit' ? outer.color : own.color,
    background: own.background === 'inherit' ? outer.background : own.background,
  }
}

const looking = ['class', 'id', 'style', 'bgcolor', 'color', 'hidden', 'aria-hidden']

/** Returns what an element says of its own look; undefined for nothing. Elements of a mail are much alike. */
function ownLook(element: Element, { blocks, known }: Rules): OwnLook | undefined {
  const { name, attributes } = element
  const said = looking.map((one) => attributes.get(one) ?? '\0')
  if (blocks.size === 0 && said.every((one) => one === '\0')) return undefined
  const key = [name, ...said].join('\n')
  const found = known.get(key)
  if (found) return found
  const style = styleOf(element, blocks)
  const background =
    style.get('background-color') ?? style.get('background') ?? attributes.get('bgcolor')
  const own = {
    isGone: isTakenOut(style, attributes),
    visibility: style.get('visibility'),
    size: style.get('font-size'),
    color: colorOf(style.get('color') ?? attributes.get('color')),
    background: colorOf(background),
  }
  if (known.size < rulesMax) known.set(key, own)
  return own
}

function styleOf({ name, attributes }: Element, blocks: Rules['blocks']): Declarations {
  const classes = (attributes.get('class') ?? '').split(/\s+/).slice(0, 20)
  const keys = [name, ...classes.flatMap((one) => [`.${one}`, `${name}.${one}`])]
  const found = [...keys, `#${attributes.get('id') ?? ''}`].map((key) => blocks.get(key) ?? [])
  return new Map(
    [...found, declarationsOf(attributes.get('style') ?? '')].flatMap((one) => [...one]),
  )
}

function declarationsOf(text: string): Declarations {
  return new Map(
    text.split(';').flatMap((declaration) => {
      const colon = declaration.indexOf(':')
      const name = declaration.slice(0, Math.max(colon, 0)).trim().toLowerCase()
      if (!properties.has(name)) return []
      const value = declaration
        .slice(colon + 1)
        .trimStart()
        .slice(0, valueLengthMax)
      return [
        [
          name,
          value
            .replace(/!\s*important/i, '')
            .trim()
            .toLowerCase(),
        ],
      ]
    }),
  )
}

function isTakenOut(style: Declarations, attributes: Attributes): boolean {
  const is = (name: string, pattern: RegExp) => pattern.test(style.get(name) ?? '')
  const isFlat = ['height', 'max-height', 'width', 'max-width'].some((name) =>
    is(name, /^[01](px)?$/),
  )
  return (
    attributes.has('hidden') ||
    attributes.get('aria-hidden')?.toLowerCase() === 'true' ||
    is('display', /^none/) ||
    is('mso-hide', /^all/) ||
    (is('opacity', /^0*(\.0\d*)?%?$/) && style.has('opacity')) ||
    is('text-indent', /^-\d{3,}/) ||
    (is('position', /^(absolute|fixed)/) && (is('left', /^-\d{3,}/) || is('top', /^-\d{3,}/))) ||
    is('clip', /^rect\(\s*0|^rect\(1px/) ||
    (isFlat && is('overflow', /^hidden/))
  )
}

function isInvisible(visibility: string | undefined, outer: boolean): boolean {
  if (visibility === undefined || visibility === 'inherit') return outer
  return /^(hidden|collapse)/.test(visibility)
}

function fontPixels(size: string | undefined, outer: number): number {
  const [, digits, unit = ''] = /^(\d*\.?\d+)([a-z%]*)/.exec(size ?? '') ?? []
  if (digits === undefined) return outer
  const pixels: Readonly<Record<string, number>> = {
    pt: 4 / 3,
    em: outer,
    '%': outer / 100,
    rem: 16,
  }
  return Number(digits) * (pixels[unit] ?? 1)
}

const colorNames: Readonly<Record<string, Color>> = {
  white: [255, 255, 255],
  black: [0, 0, 0],
  snow: [255, 250, 250],
  ivory: [255, 255, 240],
  whitesmoke: [245, 245, 245],
  ghostwhite: [248, 248, 255],
  floralwhite: [255, 250, 240],
}

/** Reads the first part of a value, as `background` may have more. An unknown color is undefined. */
function colorOf(value: string | undefined): Color | 'inherit' | undefined {
  if (value === undefined || /^(inherit|transparent|none|initial)?$/.test(value)) return 'inherit'
  if (/url\(|gradient/.test(value)) return undefined
  const [word = ''] = value.split(/\s+(?![^(]*\))/)
  const digits = /^#?([0-9a-f]{3,8})$/.exec(word)?.[1]
  if (digits !== undefined) return fromDigits(digits)
  const parts = word.match(/^rgba?\(/) ? word.match(/[\d.]+/g)?.map(Number) : undefined
  if (!parts) return colorNames[word]
  const [red = 0, green = 0, blue = 0, alpha = 1] = parts
  return alpha < 0.05 ? 'inherit' : [red, green, blue]
}

function fromDigits(digits: string): Color | undefined {
  const long = digits.length < 6 ? digits.replaceAll(/./g, '$&$&') : digits
  if (long.length < 6) return undefined
  const part = (at: number) => Number.parseInt(long.slice(at, at + 2), 16)
  return [part(0), part(2), part(4)]
}

/** Attributes by name in lower case. If a name occurs more than once, the first value counts. */
export type Attributes = ReadonlyMap<string, string>

/** A piece of the document, with character references decoded. */
export type Token =
  | { kind: 'text'; text: string }
  | { kind: 'open'; name: string; attributes: Attributes }
  | { kind: 'close'; name: string }

/** Returns the tokens in order. Comments and declarations have none. */
export function tokensOf(html: string): Token[] {
  const tokens: Token[] = []
  let [name, attribute, value] = ['', '', '']
  let attributes = new Map<string, string>()
  const named = (start: number, end: number) => html.slice(start, end).toLowerCase()
  const addText = (text: string) => {
    const last = tokens.at(-1)
    if (last?.kind === 'text') last.text += text
    else tokens.push({ kind: 'text', text })
  }
  const addTag = () => tokens.push({ kind: 'open', name, attributes })
  const skip = () => undefined
  const tokenizer = new Tokenizer(
    {},
    {
      ontext: (start, end) => addText(html.slice(start, end)),
      ontextentity: (code) => addText(String.fromCodePoint(code)),
      onopentagname(start, end) {
        name = named(start, end)
        attributes = new Map()
      },
      onattribname(start, end) {
        attribute = named(start, end)
        value = ''
      },
      onattribdata: (start, end) => (value += html.slice(start, end)),
      onattribentity: (code) => (value += String.fromCodePoint(code)),
      onattribend() {
        if (!attributes.has(attribute)) attributes.set(attribute, value)
      },
      onopentagend: addTag,
      onselfclosingtag: addTag,
      onclosetag: (start, end) => tokens.push({ kind: 'close', name: named(start, end) }),
      oncomment: skip,
      oncdata: skip,
      ondeclaration: skip,
      onprocessinginstruction: skip,
      onend: skip,
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  return tokens
}
