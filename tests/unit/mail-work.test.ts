/** A text of one repeated piece is read as the text that it is; tests/long/mail-work.test.ts measures. */
import { expect, test } from 'vitest'
import { tokensOf } from '../../shared/mailbox/html/html-tokens.ts'
import { filePage } from '../../shared/mailbox/read/file.ts'

const kilobyte = 1024
const repeated = (piece: string, length: number) =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length)

test.each(['<', '< ', '<1', '<é'])('a text of only %s is one token', (piece) => {
  const text = repeated(piece, 10_000)

  expect(tokensOf(text)).toEqual([{ kind: 'text', text }])
})

test('a file that is too long to be read twice is withheld', () => {
  const reading = (length: number) => {
    const content = new TextEncoder().encode(repeated('<b>code 4829</b> ', length))
    const file = { name: '', type: 'text/plain', size: length, content, showsCodes: false }
    const mail = { untrusted: { subject: { from: '', text: 'Your code' } } } as never
    return JSON.stringify(filePage(file, mail, 0))
  }

  expect(reading(250 * kilobyte)).not.toContain('[file withheld]')
  expect(reading(260 * kilobyte)).toContain('[file withheld]')
})
