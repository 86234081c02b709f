import { expect, test } from 'vitest'
import { pad, unpad } from '../../../shared/vault/envelope.ts'
import { random } from '../sealing/material.ts'

const rules = [
  { lengthBytes: 2, contentBytesMax: 65_535 },
  { lengthBytes: 4, contentBytesMax: 100_000 },
] as const

test.each(rules)('padding of $lengthBytes length bytes comes off as it went on', (rule) => {
  for (const length of [0, 1, 252, 253, 254, 255, 1020, 1022, 1023, 65_535]) {
    const content = random(length)
    expect(unpad(pad(content, rule), rule)).toEqual(content)
  }
})

test.each(rules)('padding that says or holds anything else is refused', (rule) => {
  const padded = pad(new Uint8Array(3), rule)
  const longer = Uint8Array.from(padded)
  longer[rule.lengthBytes - 2] = 0xff
  const written = Uint8Array.from(padded)
  written[255] = 1

  for (const wrong of [longer, written, padded.slice(0, 255), new Uint8Array(1280)]) {
    expect(() => unpad(wrong, rule)).toThrow('padding')
  }
})
