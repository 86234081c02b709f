import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeValue, encodeValue } from '../../shared/remote/codec.ts'

const key = fc.oneof(fc.constantFrom('$', '$$', '', '__proto__', 'toJSON'), fc.string())
const leaf = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.uint8Array({ maxLength: 40 }),
)
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
})).value

test('every value of JSON, and bytes anywhere in it, comes back as it was', () => {
  fc.assert(
    fc.property(value, (given) => {
      expect(decodeValue(encodeValue({ given }))).toEqual({ given })
    }),
  )
})

test('words of a caller that look like bytes stay words', () => {
  const words = { fields: { $: 'AAAA' }, more: { $$: [['a', 1]] } }

  expect(decodeValue(encodeValue(words))).toEqual(words)
})

test('what nobody wrote is refused', () => {
  for (const text of ['', '{', '{"$":1}', '{"$":"%"}', '{"$$":1}', '{"$":"AAAA","a":1}']) {
    expect(() => decodeValue(text), text).toThrow()
  }
})
