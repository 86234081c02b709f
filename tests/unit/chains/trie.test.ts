import { hexlify } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { valueInTrie } from '../../../scripts/verify-proof/check.ts'
import { pathInTrie } from '../../../shared/chains/evm/inclusion.ts'

const value = fc.uint8Array({ minLength: 32, maxLength: 300 })
const values = fc.array(value, { minLength: 1, maxLength: 300, size: 'max' })
const trie = values.chain((all) => fc.tuple(fc.constant(all), fc.nat({ max: all.length - 1 })))

test('every value of a trie is read back under its index, and under no other', () => {
  fc.assert(
    fc.property(trie, fc.nat({ max: 400 }), ([all, index], other) => {
      const { root, nodes } = pathInTrie(all, index)

      expect(valueInTrie(root, index, nodes)).toBe(hexlify(all[index] ?? ''))
      if (other !== index) expect(() => valueInTrie(root, other, nodes)).toThrow()
    }),
    { numRuns: 60 },
  )
})

test('all values are under one root, and a proof with a node too many or too few is refused', () => {
  fc.assert(
    fc.property(values, (all) => {
      const paths = all.map((_, index) => pathInTrie(all, index))
      const [first] = paths

      expect(new Set(paths.map(({ root }) => root)).size).toBe(1)
      for (const [index, { root, nodes }] of paths.entries()) {
        expect(() => valueInTrie(root, index, nodes.slice(0, -1))).toThrow()
        expect(() => valueInTrie(root, index, [...nodes, ...(first?.nodes ?? [])])).toThrow()
      }
    }),
    { numRuns: 5 },
  )
})
