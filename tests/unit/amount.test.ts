import { formatUnits, parseUnits } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amount } from '../../shared/contract/fields.ts'
import { formatAmount, formatUsd, parseAmount } from '../../shared/money/amount.ts'
import { usdMicrosOf } from '../../shared/money/usd.ts'

const decimals = fc.integer({ min: 0, max: 18 })
const atomic = fc.bigInt({ min: 0n, max: 10n ** 36n })

/** Slow, obvious twin of the parser, which reads digit by digit. */
function parseTwin(text: string, places: number): bigint | undefined {
  const digits = '0123456789'
  let [value, seen, point] = [0n, 0, -1]
  for (const [at, char] of text.split('').entries()) {
    if (char === '.' && point === -1 && seen > 0) point = at
    else if (!digits.includes(char)) return undefined
    else {
      value = value * 10n + BigInt(digits.indexOf(char))
      seen += 1
    }
  }
  const fraction = point === -1 ? 0 : text.length - point - 1
  const whole = point === -1 ? text : text.slice(0, point)
  const hasLeadingZero = whole.length > 1 && whole.startsWith('0')
  if (whole === '' || hasLeadingZero || whole.length > 18 || text.endsWith('.')) return undefined
  if (fraction > places || fraction > 18) return undefined
  return value * 10n ** BigInt(places - fraction)
}

test('what is formatted reads back as itself, and is written as ethers writes it', () => {
  fc.assert(
    fc.property(atomic, decimals, (value, places) => {
      const text = formatAmount(value, places)
      const inRange = value < 10n ** BigInt(places + 18)
      expect(parseAmount(text, places)).toBe(inRange ? value : undefined)
      expect(text).toBe(formatUnits(value, places).replace(/\.0$/, ''))
    }),
  )
})

test('every text is read as the slow reader reads it', () => {
  const near = fc.string({ unit: fc.constantFrom(...'0123456789.'.split('')), maxLength: 24 })
  const far = fc.string({ unit: fc.constantFrom(...'019.-+e_, x１'.split('')), maxLength: 8 })
  fc.assert(
    fc.property(fc.oneof(near, far), decimals, (text, places) => {
      const read = parseAmount(text, places)
      expect(read).toBe(parseTwin(text, places))
      if (read !== undefined) expect(read).toBe(parseUnits(text, places))
    }),
    { numRuns: 2_000 },
  )
})

const refused = [
  ['', ' ', ' 1', '1 ', '1\n', '\t1', '.5', '5.', '.', '1.2.3', '00', '00012', '01.5'],
  ['-1', '-0', '+1', '1e3', '1E3', '0x10', '0b1', '1_000', '1,000', '1,5', '$1', '1n', '1f'],
  ['NaN', 'Infinity', 'null', 'true', '１', '٣', '1\u200b', '1\0', '½', '10000000000000000000'],
  [`1${'0'.repeat(40)}`, `0.${'0'.repeat(18)}1`, '0.0000001', '1.1234567'],
].flat()

test.each(refused)('%j is no amount of a token of 6 decimals', (text) => {
  expect(parseAmount(text, 6)).toBeUndefined()
})

test.each([
  ['0', 0n],
  ['0.000001', 1n],
  ['1', 1_000_000n],
  ['12.50', 12_500_000n],
  ['12.500000', 12_500_000n],
  ['999999999999999999.999999', 999_999_999_999_999_999_999_999n],
])('%s is %d atomic units', (text, value) => {
  expect(parseAmount(text, 6)).toBe(value)
})

test('an amount is a string on the wire, never a number', () => {
  for (const value of [1, 1n, 0.1, null, true, ['1'], { amount: '1' }]) {
    expect(amount.safeParse(value).success).toBe(false)
  }
  expect(amount.safeParse('12.50').success).toBe(true)
})

test('dollars are written without trailing zeros and never through floating point', () => {
  expect(formatUsd(0n)).toBe('0')
  expect(formatUsd(1n)).toBe('0.000001')
  expect(formatUsd(1_500_000n)).toBe('1.5')
  expect(formatUsd(9_007_199_254_740_993_000_001n)).toBe('9007199254740993.000001')
})

test('a value in dollars is never below the exact one, and above it by less than a micro', () => {
  const token = fc.record({ symbol: fc.constant('EURC'), decimals })
  const rate = fc.integer({ min: 1, max: 5_000_000 })
  fc.assert(
    fc.property(token, atomic, rate, (priced, value, rateMicros) => {
      const config = { EUR_USD_RATE: formatAmount(BigInt(rateMicros), 6) }
      const micros = usdMicrosOf(priced, value, config) ?? -1n
      const unit = 10n ** BigInt(priced.decimals)
      const exact = value * BigInt(rateMicros)
      expect(micros * unit).toBeGreaterThanOrEqual(exact)
      expect(micros * unit - exact).toBeLessThan(unit)
    }),
  )
})

test('a dollar coin counts for its face, and a token without a rate for nothing', () => {
  expect(usdMicrosOf({ symbol: 'USDC', decimals: 6 }, 1_500_000n, {})).toBe(1_500_000n)
  expect(usdMicrosOf({ symbol: 'EURC', decimals: 6 }, 1n, {})).toBeUndefined()
  expect(usdMicrosOf({ symbol: 'DAI', decimals: 18 }, 1n, {})).toBeUndefined()
})
