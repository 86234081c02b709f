import fc from 'fast-check'
import { expect, test } from 'vitest'
import { markHidden, untrusted, visibleLine, visibleText } from '../../shared/text/untrusted.ts'

const bare = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u
const strange = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom('\r', '\n', '\u2028', '\u202e', '\u200b', '\ufeff', '\ud800', '\u{e0041}', 'a'),
  ),
  maxLength: 60,
})

test.each([
  ['right-to-left override', 'pay \u202eecila', 'pay ecila'],
  ['isolates', '\u2066a\u2069', 'a'],
  ['zero width characters', 'pay\u200bpal\u200d\ufeff\u2060', 'paypal'],
  ['tags, which spell words nobody sees', 'hi\u{e0069}\u{e0067}\u{e006e}', 'hi'],
  ['variation selectors', 'a\ufe0f\u{e0100}b', 'ab'],
  ['fillers that look empty', 'a\u3164\u115f\uffa0\u2800b', 'ab'],
  ['controls', 'a\0\u0007\u001b[31mb\u009b', 'a[31mb'],
  ['private and unassigned characters', 'a\ue000\u{10ffff}\u0378b', 'ab'],
  ['line ends of all kinds', 'a\r\nb\rc\u2028d\u2029e\u0085f\vg\fh', 'a\nb\nc\nd\ne\nf\ng\nh'],
  ['half a character', 'a\ud83d', 'a\ufffd'],
])('takes away %s', (_what, text, seen) => {
  expect(visibleText(text)).toBe(seen)
})

test('leaves what people write in twelve languages as it is', () => {
  const text = 'Grüße, où? ¿Qué! ção łódź Привет 你好 こんにちは İğ\tक्षि 한국 👍 “x” – 1 234,50 €'
  expect(visibleText(text)).toBe(text)
})

test('holds nothing unseen for any text, and reading it twice changes nothing', () => {
  fc.assert(
    fc.property(strange, (text) => {
      const seen = visibleText(text)
      expect(seen.replaceAll(/[\n\t]/g, '')).not.toMatch(bare)
      expect(visibleText(seen)).toBe(seen)
      expect(markHidden(text)).not.toMatch(bare)
      expect(visibleLine(text)).not.toMatch(/[\n\t]| {2}|^ | $/)
    }),
    { numRuns: 500 },
  )
})

test('says who wrote, how much, and whether something is missing', () => {
  const from = 'Bob\r\n<bob@example.com>\u202e'

  expect(untrusted({ from, text: 'short\u200b' }, 5)).toEqual({
    from: 'Bob <bob@example.com>',
    length: 5,
    truncated: false,
    text: 'short',
  })
  const { length, truncated, text } = untrusted({ from, text: 'x'.repeat(70) }, 64)
  expect([length, truncated, text.length]).toEqual([70, true, 64])
})

test('never ends in half a character', () => {
  expect(untrusted({ from: '', text: 'abc👍' }, 4).text).toBe('abc')
  expect(untrusted({ from: '', text: 'abc👍' }, 5).text).toBe('abc👍')
})
