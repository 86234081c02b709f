/**
 * Splits HTML into text and tags with the tokenizer of `htmlparser2`, which takes time in proportion to the
 * length. Its parser is not used: the work of its stack of open elements grows with their number.
 */
import { Tokenizer } from 'htmlparser2'

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
