/**
 * Reads what the parser does not report about a mail: the bytes of its texts, which it decodes by their
 * declared charset alone and merges, the number of its parts, and text outside all parts, which it drops
 * as RFC 2046 section 5.1.1 allows. Its tree is internal and not in its types, so it is validated like
 * outside data. A different shape throws, so no mail is half read.
 */
import * as z from 'zod'

/** The structure of a mail's parts. */
export type Structure = {
  parts: number
  isTextOutside: boolean
  isEmptyMultipart: boolean
  /** True if a header line is malformed, or is one that a part has no use for (RFC 2046 section 5.1). */
  hasOddHeaders: boolean
  /** The text outside all parts, as far as the parser kept it. */
  loose: Uint8Array
  /** Texts to show. Each is a list of parts that say the same in other forms. */
  texts: TextPart[][]
}

/** A part of plain text or of HTML. */
export type TextPart = {
  isHtml: boolean
  content: Uint8Array
  charset: string | undefined
  /** The text of a broken line's end if ends of lines only break long ones (RFC 3676). */
  flowed: '' | ' ' | undefined
}

const nodeSchema = z.object({
  contentType: z.object({
    multipart: z.union([z.string(), z.literal(false)]),
    parsed: z.object({ value: z.string(), params: z.record(z.string(), z.string()) }),
  }),
  contentDisposition: z.object({ parsed: z.object({ value: z.string() }) }),
  content: z.instanceof(ArrayBuffer).nullable(),
  rawHeaderLines: z.array(z.object({ line: z.string() })),
  get childNodes() {
    return z.array(nodeSchema)
  },
})
type Node = z.output<typeof nodeSchema>

/** The usual note of mail programs for readers without MIME. */
const usualPreamble = /^(this is|ceci est).{0,40}multi-?part/is
const usualPreambleMax = 120

function isUsualPreamble(text: string): boolean {
  return text.length <= usualPreambleMax && usualPreamble.test(text)
}

const headerLine = /^[!-9;-~]+[ \t]*:/
const partHeaderLine = /^(content|x)-[!-9;-~]+[ \t]*:/i

/** Counts the lines, and those that could begin a part, before anything is built for them. */
export function countLines(raw: Uint8Array): { lines: number; delimiters: number } {
  const text = latin1Text(raw)
  return {
    lines: linesOf(text),
    delimiters: text.match(/(?:^|\n)--[^-\s]/g)?.length ?? 0,
  }
}

/** Returns the number of ends of lines. */
export function linesOf(text: string): number {
  return text.match(/\n/g)?.length ?? 0
}

/** Returns what is in front of the first empty line, one character per byte. */
export function headOf(raw: Uint8Array): string {
  const text = latin1Text(raw)
  const end = text.search(/\n\r*\n/)
  return end === -1 ? text : text.slice(0, end + 1)
}

/** Inspects the tree that a parser has built of these bytes. */
export function structureOf(parser: object, raw: Uint8Array): Structure {
  const root = nodeSchema.parse(Reflect.get(parser, 'root'))
  const nodes = withAllBelow(root)
  const multiparts = nodes.filter(({ contentType }) => contentType.multipart !== false)
  const loose = multiparts.map(nodeText).filter((text) => text.trim() !== '')
  return {
    parts: nodes.length,
    isTextOutside: loose.some((text) => !isUsualPreamble(text.trim())) || hasTextAfter(root, raw),
    hasOddHeaders: nodes.some(({ rawHeaderLines }, at) =>
      rawHeaderLines.some(({ line }) => !(at === 0 ? headerLine : partHeaderLine).test(line)),
    ),
    isEmptyMultipart: multiparts.some(({ childNodes }) => childNodes.length === 0),
    loose: new TextEncoder().encode(loose.join('\n')),
    texts: textsBelow(root),
  }
}

/** Returns the texts of a part and of those in it. The parts of an alternative belong together. */
function textsBelow(node: Node): TextPart[][] {
  if (node.contentType.multipart === false) return textIn(node)
  const texts = node.childNodes.flatMap(textsBelow)
  const isOne = node.contentType.multipart === 'alternative' && texts.length > 0
  return isOne ? [texts.flat()] : texts
}

/** Returns the text of a part that the parser shows; it takes other parts as files. */
function textIn({ contentType: { parsed }, contentDisposition, content }: Node): TextPart[][] {
  const isText = parsed.value === 'text/plain' || parsed.value === 'text/html'
  if (!isText || contentDisposition.parsed.value === 'attachment') return []
  const { charset, format = '', delsp = '' } = parsed.params
  const flowed = /^yes$/i.test(delsp) ? '' : ' '
  return [
    [
      {
        isHtml: parsed.value === 'text/html',
        content: new Uint8Array(content ?? new ArrayBuffer(0)),
        charset,
        flowed: /^flowed$/i.test(format) ? flowed : undefined,
      },
    ],
  ]
}

function withAllBelow(node: Node): Node[] {
  return [node, ...node.childNodes.flatMap(withAllBelow)]
}

function nodeText({ content }: Node): string {
  return new TextDecoder().decode(content ?? new ArrayBuffer(0))
}

/** Returns true if anything follows the end of the outermost parts, where the parser stops reading. */
function hasTextAfter({ contentType: { multipart, parsed } }: Node, raw: Uint8Array): boolean {
  const { boundary } = parsed.params
  if (multipart === false || !boundary) return false
  const mark = `\n--${latin1Text(new TextEncoder().encode(boundary))}--`
  const [, ...rest] = latin1Text(raw).split(mark)
  return rest.join(mark).trim() !== ''
}

/** Decodes one character per byte. */
function latin1Text(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes)
}
