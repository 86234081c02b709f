import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  maxFeePerGasOf,
  medianFees,
  readFees,
  relayGas,
  withinBudget,
} from '../../../shared/chains/evm/gas.ts'
import { knownChains } from '../../../shared/chains/registry.ts'
import { readConfig } from '../../../shared/env.ts'

const wei = fc.bigInt({ min: 0n, max: 1_000_000_000_000n })
const wei18 = 10n ** 18n
const bindings = {
  BASE_URL: 'https://aoa.example',
  WEB_URL: 'https://aoa.example/web',
  MAIL_DOMAIN: 'agents.example',
  SUPABASE_URL: 'http://database.example',
  SUPABASE_API_KEY: 'sb_publishable_of_nobody',
}
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

test('a tip is the median of the last blocks, an empty one as the least, and never below the minimum', () => {
  const tipOf = (reward: bigint[]) =>
    readFees({ result: { baseFeePerGas: ['0x1'], reward: reward.map((tip) => [hex(tip)]) } })
  const least = { maxPriorityFeePerGas: 1_000_000n }
  const [low, middle, high] = [2_000_000n, 3_000_000n, 900_000_000n]

  expect(tipOf([high, low, low, middle, middle])).toMatchObject({ maxPriorityFeePerGas: middle })
  expect(tipOf([high, 0n, low, 0n, middle])).toMatchObject({ maxPriorityFeePerGas: low })
  // One or two transactions with an arbitrary tip do not raise the price of a quiet chain.
  expect(tipOf([0n, high, 0n, 0n, high])).toMatchObject(least)
  expect(tipOf([high, 0n])).toMatchObject(least)
  expect(tipOf([0n, 0n])).toMatchObject(least)
  expect(tipOf([5n])).toMatchObject(least)
  expect(tipOf([])).toMatchObject(least)
})

test('answers of another shape are no suggestion', () => {
  const others = [{ baseFeePerGas: [], reward: [] }, { baseFeePerGas: [1], reward: [] }, null]
  for (const result of others) expect(readFees({ result })).toMatchObject({ status: 'unavailable' })
})

const feesOf = (base: bigint, tip: bigint) => ({
  baseFeePerGas: base,
  maxPriorityFeePerGas: tip,
  maxFeePerGas: 2n * base + tip,
})

test('no single endpoint of several raises what they suggest, in either fee', () => {
  const [honest, other] = [feesOf(100n, 7n), feesOf(110n, 8n)]
  for (const lie of [feesOf(10n ** 15n, 7n), feesOf(100n, 10n ** 15n)]) {
    expect(medianFees([lie, honest])).toEqual(feesOf(100n, 7n))
    const of3 = medianFees([honest, lie, other])
    expect(of3?.maxFeePerGas).toBeLessThanOrEqual(other.maxFeePerGas)
    expect(of3?.maxPriorityFeePerGas).toBeLessThanOrEqual(other.maxPriorityFeePerGas)
  }
  expect(medianFees([])).toBeUndefined()
})

test('where posting calldata is charged in gas, each place has four times as much as elsewhere', () => {
  for (const nitro of [42161, 421614]) {
    for (const calls of [0, 1, 25]) {
      expect(relayGas(nitro, calls)).toBe(4n * relayGas(8453, calls))
    }
  }
})

const config = readConfig({ ...bindings })
const chains = knownChains.filter(({ testnet }) => !testnet)

test.each(chains)(
  'gas for one call on $title stays within its budget, whatever is asked',
  (chain) => {
    const ceiling = maxFeePerGasOf(chain, config)
    const usd = chain.id === 1 ? 20n : 2n
    const rate = { ETH: 5_000n, POL: 1n, AVAX: 60n }[chain.native.symbol] ?? 0n

    const lie = withinBudget(feesOf(10n ** 15n, 10n ** 15n), ceiling)
    const cost = (calls: number) => relayGas(chain.id, calls) * lie.maxFeePerGas * rate

    expect(lie).toMatchObject({ maxFeePerGas: ceiling, isOverBudget: true })
    for (const calls of [1, 2, 25])
      expect(cost(calls)).toBeLessThanOrEqual(usd * BigInt(calls) * wei18)
  },
)

test('at the fees of an ordinary day every chain can be used', () => {
  const gwei = 10n ** 9n
  const ordinary: Record<number, bigint> = { 1: 10n * gwei, 137: 300n * gwei, 43114: 30n * gwei }
  for (const chain of chains) {
    const base = ordinary[chain.id] ?? gwei / 10n
    const fees = withinBudget(feesOf(base, gwei / 100n), maxFeePerGasOf(chain, config))
    expect(fees.isOverBudget, chain.title).toBe(false)
  }
})

test('fees within the budget are left as they are, and below a doubled base fee are enough now', () => {
  expect(withinBudget(feesOf(100n, 7n), 207n)).toEqual({ ...feesOf(100n, 7n), isOverBudget: false })
  expect(withinBudget(feesOf(100n, 7n), 107n)).toMatchObject({
    maxFeePerGas: 107n,
    isOverBudget: false,
  })
  expect(withinBudget(feesOf(100n, 7n), 106n)).toMatchObject({ isOverBudget: true })
})

test('a coin without a rate pays for nothing', () => {
  const [chain] = chains
  if (!chain) throw new Error('no chain')
  const native = { symbol: 'NEW', decimals: 18 }

  expect(maxFeePerGasOf({ ...chain, native }, config)).toBe(0n)
})
