/** The results of a multicall are read as encoders write them, and in no other form. */
import { AbiCoder } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readResults } from '../../../shared/chains/evm/rpc/endpoints.ts'
import { hex } from '../../support/chain-world.ts'

const bytes = fc.uint8Array({ maxLength: 200 })
const results = fc.array(fc.record({ success: fc.boolean(), returned: bytes }), { maxLength: 40 })
type Results = typeof results extends fc.Arbitrary<infer Value> ? Value : never

const word = (value: number) => value.toString(16).padStart(64, '0')
const textOf = (returned: Uint8Array) => `0x${Buffer.from(returned).toString('hex')}`

function encode(all: Results) {
  const rows = all.map(({ success, returned }) => [success, textOf(returned)])
  return hex(AbiCoder.defaultAbiCoder().encode(['tuple(bool,bytes)[]'], [rows]))
}

/** Encodes `count` overlapping results, each with the same bytes. */
function overlapping(count: number, size: number) {
  const each = Array.from({ length: count }, (_, at) => at)
  const [heads, bytesAt] = [32 * count, 96 * count]
  const words = [
    word(32),
    word(count),
    ...each.map((at) => word(heads + 64 * at)),
    ...each.flatMap((at) => [word(1), word(bytesAt - heads - 64 * at)]),
    word(size),
  ]
  return hex(`${words.join('')}${'0'.repeat(2 * size)}`)
}

test('what an encoder wrote is read as it was, and under no other number of results', () => {
  fc.assert(
    fc.property(results, (all) => {
      const data = encode(all)

      expect(readResults(data, all.length)).toEqual(
        all.map(({ success, returned }) => (success ? textOf(returned) : undefined)),
      )
      expect(readResults(data, all.length + 1)).toBeUndefined()
      expect(readResults(data, all.length - 1)).toBeUndefined()
    }),
  )
})

test('an answer that is cut off, or goes on, has no results', () => {
  fc.assert(
    fc.property(results, fc.nat(), (all, at) => {
      const data = encode(all)

      expect(readResults(hex(data.slice(0, 2 + (at % (data.length - 2)))), all.length)).toBe(
        undefined,
      )
      expect(readResults(hex(`${data}${word(0)}`), all.length)).toBeUndefined()
    }),
  )
})

test('no word of an answer can be another one, but for what was returned', () => {
  const all = [
    { success: true, returned: new Uint8Array(32) },
    { success: false, returned: new Uint8Array(0) },
  ]
  const data = encode(all)
  const returnedAt = 7
  const others = Array.from({ length: (data.length - 2) / 64 }, (_, at) => at).filter(
    (at) => at !== returnedAt,
  )

  const read = others.map((at) => {
    const start = 2 + 64 * at
    return readResults(hex(`${data.slice(0, start)}${word(99)}${data.slice(start + 64)}`), 2)
  })

  expect(readResults(data, 2)).toEqual([`0x${word(0)}`, undefined])
  expect(read.every((one) => one === undefined)).toBe(true)
})

test('results that overlap are none, however short the answer is', () => {
  expect(readResults(overlapping(60, 512_000), 60)).toBeUndefined()
  expect(readResults(overlapping(1, 64), 1)).toEqual([`0x${'0'.repeat(128)}`])
})
