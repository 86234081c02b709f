/** Messages damaged in transit, by one change after the other. */
import fc from 'fast-check'
import { type Marked, messages } from './messages.ts'

/** Fragments that transport, attackers and faulty programs insert; a bar is a line break. */
const intruders = `| \n \r \0 -- --outer --b1-- " ; ( =?utf-8?q? \u00ff : < &#0; \u00ef\u00bb\u00bf charset=latin9 ||
  Content-Type:multipart/mixed;boundary=x| Content-Type:text/html;charset=x-none|
  Content-Disposition:attachment| Content-Transfer-Encoding:8bit|`
const change = fc.record({
  kind: fc.constantFrom('delete', 'repeat', 'insert', 'flip', 'cut', 'swap'),
  at: fc.nat(2_000),
  length: fc.integer({ min: 1, max: 40 }),
  what: fc.constantFrom(
    ' ',
    ...intruders.split(/ +|\n +/).map((one) => one.replaceAll('|', '\r\n')),
  ),
})

/** Draws a broken message as latin1 text of its bytes, with the marks it had before it was broken. */
export const brokenMessage: fc.Arbitrary<Marked> = fc
  .tuple(fc.constantFrom(...messages), fc.array(change, { minLength: 1, maxLength: 6 }))
  .map(([{ raw, marks }, changes]) => ({ raw: changes.reduce(mutate, raw), marks }))

type Change = { kind: string; at: number; length: number; what: string }

function mutate(raw: string, { kind, at, length, what }: Change): string {
  const start = at % (raw.length + 1)
  const [before, piece, after] = [
    raw.slice(0, start),
    raw.slice(start, start + length),
    raw.slice(start + length),
  ]
  switch (kind) {
    case 'delete':
      return before + after
    case 'repeat':
      return before + piece + piece + after
    case 'insert':
      return before + what + piece + after
    case 'flip':
      return before + String.fromCharCode(piece.charCodeAt(0) ^ 1) + piece.slice(1) + after
    case 'cut':
      return before
    default:
      return after + piece + before
  }
}
