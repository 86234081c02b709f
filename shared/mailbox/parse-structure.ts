/**
 * What the parser does not tell of a mail: how many parts it has, and text that stands in no part and
 * that it drops, as RFC 2046 section 5.1.1 allows. The tree is the parser's own and not in its types,
 * so it is read like anything from outside; another shape is an error, never a mail half read.
 */
import * as z from 'zod'

/** How a mail is made of parts. */
export type Structure = {
  parts: number
  isTextOutside: boolean
  isEmptyMultipart: boolean
  /** Lines among the headers that are none, or that a part has no use for (RFC 2046 section 5.1). */
  hasOddHeaders: boolean
  /** The text that is in no part, as far as the parser kept it. */
  loose: string
}

const nodeSchema = z.object({
  contentType: z.object({
    multipart: z.union([z.string(), z.literal(false)]),
    parsed: z.object({ params: z.record(z.string(), z.string()) }),
  }),
  content: z.instanceof(ArrayBuffer).nullable(),
  rawHeaderLines: z.array(z.object({ line: z.string() })),
  get childNodes() {
    return z.array(nodeSchema)
  },
})
type Node = z.output<typeof nodeSchema>

/** What mail programs write there for readers without MIME. */
const usualPreamble = /^(this is|ceci est).{0,40}multi-?part/is
const usualPreambleMax = 120

function isUsualPreamble(text: string): boolean {
  return text.length <= usualPreambleMax && usualPreamble.test(text)
}

const headerLine = /^[!-9;-~]+[ \t]*:/
const partHeaderLine = /^(content|x)-[!-9;-~]+[ \t]*:/i

/** Lines, and those of them that could begin a part, counted before anything is built for them. */
export function countLines(raw: Uint8Array): { lines: number; delimiters: number } {
  const text = lettersOf(raw)
  return {
    lines: text.match(/\n/g)?.length ?? 0,
    delimiters: text.match(/(?:^|\n)--[^-\s]/g)?.length ?? 0,
  }
}

/** Looks through the tree that a parser has built of these bytes. */
export function structureOf(parser: object, raw: Uint8Array): Structure {
  const root = nodeSchema.parse(Reflect.get(parser, 'root'))
  const nodes = withAllBelow(root)
  const multiparts = nodes.filter(({ contentType }) => contentType.multipart !== false)
  const loose = multiparts.map(textOf).filter((text) => text.trim() !== '')
  return {
    parts: nodes.length,
    isTextOutside: loose.some((text) => !isUsualPreamble(text.trim())) || hasTextAfter(root, raw),
    hasOddHeaders: nodes.some(({ rawHeaderLines }, at) =>
      rawHeaderLines.some(({ line }) => !(at === 0 ? headerLine : partHeaderLine).test(line)),
    ),
    isEmptyMultipart: multiparts.some(({ childNodes }) => childNodes.length === 0),
    loose: loose.join('\n'),
  }
}

function withAllBelow(node: Node): Node[] {
  return [node, ...node.childNodes.flatMap(withAllBelow)]
}

function textOf({ content }: Node): string {
  return new TextDecoder().decode(content ?? new ArrayBuffer(0))
}

/** Whether something follows the end of the outermost parts, where the parser reads no more. */
function hasTextAfter({ contentType: { multipart, parsed } }: Node, raw: Uint8Array): boolean {
  const { boundary } = parsed.params
  if (multipart === false || !boundary) return false
  const mark = `\n--${lettersOf(new TextEncoder().encode(boundary))}--`
  const [, ...rest] = lettersOf(raw).split(mark)
  return rest.join(mark).trim() !== ''
}

/** A character for each byte. */
function lettersOf(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes)
}
