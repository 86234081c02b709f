/** A text of one repeated piece takes a mail's reader no more work than prose does. */
import { expect, test } from 'vitest'
import { candidatesIn } from '../../shared/mailbox/codes/code-candidates.ts'
import { findCodes } from '../../shared/mailbox/codes/codes.ts'
import { parseMail } from '../../shared/mailbox/receive/parse.ts'
import { objectionTo } from '../support/doubling/measure.ts'

const kilobyte = 1024
const prose =
  'The committee met on Tuesday to talk over the garden and the fence; everybody agreed.\n'

const repeated = (piece: string, length: number) =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length)

/** Returns the least CPU time of several runs. */
function costOf(work: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return user + system
  })
  return Math.min(...times)
}

test.each(['7', '4829', '字', 'руб'])('searching a text of only %s costs as prose', (piece) => {
  const search = (text: string) => costOf(() => candidatesIn(text, () => '', []))

  const [ofPiece, ofProse] = [piece, prose].map((one) => search(repeated(one, 256 * kilobyte)))

  expect(ofPiece).toBeLessThan(2 * (ofProse ?? 0))
})

const inBase26 = (number: number) =>
  number.toString(26).replaceAll(/[0-9a-p]/g, (sign) => 'qzxwvkjhbg'.charAt(Number(sign)) || sign)
const passwords = (length: number) =>
  Array.from(
    { length: length / 34 },
    (_, at) => `user: ann password: ${inBase26(at * 7_919_777)}xq\n`,
  )
    .join('')
    .slice(0, length)

test.each([
  ['a name and a sign', (length: number) => repeated('code|', length)],
  ['a heading and a gap', (length: number) => repeated('code  ', length)],
  ['a sentence about a number', (length: number) => repeated('Your code is 482913. ', length)],
  ['a password, another one each time', passwords],
])('a text of only %s is searched for codes in proportion to its length', async (name, of) => {
  const read = (text: string) => findCodes({ subject: 'Your code', texts: [text] })

  expect(await objectionTo({ name, most: 256 * kilobyte, read }, { name, of })).toBeUndefined()
})

test.each(['From', 'To', 'Cc', 'Reply-To'])('a long %s is read as fast as a text', async (name) => {
  const rest = name === 'From' ? '' : 'From: a@b.example\r\n'
  const groups = { name: 'groups in groups', of: (length: number) => repeated('g:', length) }
  const read = (text: string) =>
    parseMail(new TextEncoder().encode(`${rest}${name}: ${text}\r\n\r\na`))

  expect(await objectionTo({ name, most: 126 * kilobyte, read }, groups)).toBeUndefined()
})

test('a mail of very many short lines is refused before it is parsed', async () => {
  const read = (text: string) =>
    parseMail(new TextEncoder().encode(`From: a@b.example\r\n\r\n${text}`))
  const lines = { name: 'lines', of: (length: number) => repeated('a\n', length) }

  expect(await objectionTo({ name: 'a mail', most: 100 * kilobyte, read }, lines)).toBeUndefined()
})
