import { expect, test } from 'vitest'
import { hasRtf, withoutRtf } from '../../shared/mailbox/html/rtf-text.ts'

test.each([
  ['control words', '{\\rtf1 48\\b 29\\b0 13}', '482913'],
  ['groups', '{\\rtf1\\ansi Code {\\b {4}829}13}', 'Code 482913'],
  ['bytes in hexadecimal', "{\\rtf1 caf\\'e9 4\\'3829}", 'café 4829'],
  ['characters by number', "{\\rtf1 \\u52?\\u56\\'38\\u-10179?\\u-8704?}", '48\u{1f600}'],
  ['ends of lines in the source', '{\\rtf1 48\r\n29}', '4829'],
  ['paragraphs and cells', '{\\rtf1 a\\par b\\cell c\\\nd}', 'a\nb\tc\nd'],
  ['escaped signs', '{\\rtf1 \\{a\\}\\\\b\\~c\\_d\\-e}', '{a}\\b c-de'],
])('reads %s', (_, rtf, text) => {
  expect(withoutRtf(rtf)).toBe(text)
})

test('leaves the text around documents as it is, up to the end of each', () => {
  const text = 'a \\b\n{\\rtf1 \\b 1} {\\b}\n{\\rtf1 2\\}} and {\\rtf1 3\\b 4'

  expect(withoutRtf(text)).toBe('a \\b\n1 {\\b}\n2} and 34')
})

test('leaves a text without RTF as it is', () => {
  const text = 'C:\\rtf\\a {b} \\par'

  expect([hasRtf(text), withoutRtf(text)]).toEqual([false, text])
})
