import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeAssociatedData } from '../../../shared/sealing/associated-data.ts'

const field = fc.string({ unit: 'grapheme', maxLength: 12 })
const list = fc.array(field, { maxLength: 6 })

/** Decodes the encoding by its rule alone. */
function decode(encoded: Uint8Array): string[] {
  const rest = Buffer.from(encoded)
  if (rest.length === 0) return []
  const end = 4 + rest.readUInt32BE(0)
  return [rest.toString('utf8', 4, end), ...decode(rest.subarray(end))]
}

test('any list of fields can be read back from its bytes, so no two lists share them', () => {
  const readable = fc.property(list, (fields) => {
    expect(decode(encodeAssociatedData(fields))).toEqual(fields)
  })

  fc.assert(readable)
})

test('characters that move to the neighbouring field change the bytes', () => {
  expect(encodeAssociatedData(['ab', 'c'])).not.toEqual(encodeAssociatedData(['a', 'bc']))
  expect(encodeAssociatedData(['a', ''])).not.toEqual(encodeAssociatedData(['a']))
})

test('text that would be encoded like other text is refused', () => {
  expect(() => encodeAssociatedData(['\ud800'])).toThrow('well-formed')
})

test('too many and too long fields are refused', () => {
  expect(() => encodeAssociatedData(Array.from({ length: 17 }, () => ''))).toThrow('too many')
  expect(() => encodeAssociatedData(['é'.repeat(513)])).toThrow('too long')
})
