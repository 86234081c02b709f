import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readFees } from '../../../shared/chains/evm/fees.ts'

const wei = fc.bigInt({ min: 0n, max: 1_000_000_000_000n })
const hex = (quantity: bigint) => `0x${quantity.toString(16)}`

test('the suggestion survives a doubled base fee and offers a tip that some block took', () => {
  fc.assert(
    fc.property(
      fc.array(wei, { minLength: 1, maxLength: 6 }),
      fc.array(wei, { maxLength: 5 }),
      (bases, tips) => {
        const result = { baseFeePerGas: bases.map(hex), reward: tips.map((tip) => [hex(tip)]) }
        const fees = readFees({ result })
        if ('log' in fees) throw new Error(fees.log)
        const { baseFeePerGas, maxFeePerGas, maxPriorityFeePerGas } = fees
        expect(baseFeePerGas).toBe(bases.at(-1))
        expect(maxFeePerGas).toBe(2n * baseFeePerGas + maxPriorityFeePerGas)
        expect([...tips, 1_000_000n]).toContain(maxPriorityFeePerGas)
      },
    ),
  )
})

test('a tip is the median of blocks that took one, and never below the minimum', () => {
  const tipOf = (reward: bigint[]) =>
    readFees({ result: { baseFeePerGas: ['0x1'], reward: reward.map((tip) => [hex(tip)]) } })
  const [low, middle, high] = [2_000_000n, 3_000_000n, 900_000_000n]

  expect(tipOf([high, 0n, low, 0n, middle])).toMatchObject({ maxPriorityFeePerGas: middle })
  expect(tipOf([0n, 0n])).toMatchObject({ maxPriorityFeePerGas: 1_000_000n })
  expect(tipOf([5n])).toMatchObject({ maxPriorityFeePerGas: 1_000_000n })
})

test('fees beyond belief and answers of another shape are no suggestion', () => {
  const absurd = [
    { baseFeePerGas: [hex(10n ** 20n)], reward: [] },
    { baseFeePerGas: ['0x1'], reward: [[hex(10n ** 30n)]] },
    { baseFeePerGas: [], reward: [] },
    { baseFeePerGas: [1], reward: [] },
    null,
  ]
  for (const result of absurd) expect(readFees({ result })).toMatchObject({ status: 'unavailable' })
})
