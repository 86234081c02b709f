/** The hash and receipts root of an OP Stack block verify; its deposits have their own receipt type. */
import { readFileSync } from 'node:fs'
import { hexlify, keccak256 } from 'ethers'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { valueInTrie } from '../../scripts/verify-proof/check.ts'
import {
  encodableReceiptSchema,
  encodeHeader,
  encodeReceipt,
  headerSchema,
  pathInTrie,
} from '../../shared/chains/evm/inclusion.ts'

const vector = z.object({
  block: headerSchema.extend({ hash: z.string() }),
  receipts: z.array(encodableReceiptSchema),
})
const file = new URL('op-block.json', import.meta.url)
const { block, receipts } = vector.parse(JSON.parse(readFileSync(file, 'utf8')))

test('the header hashes to the block hash', () => {
  expect(keccak256(encodeHeader(block))).toBe(block.hash)
})

test('each receipt, legacy, typed, reverted or deposited, stands under the receipts root', () => {
  expect(new Set(receipts.map(({ type }) => Number(type)))).toEqual(new Set([0, 1, 2, 0x7e]))
  const encoded = receipts.map(encodeReceipt)
  for (const [index, receipt] of encoded.entries()) {
    const { nodes } = pathInTrie(encoded, index)
    expect(valueInTrie(block.receiptsRoot, index, nodes)).toBe(hexlify(receipt))
  }
})
