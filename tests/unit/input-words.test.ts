/** Bad input is refused in plain words, and a whole number stands for its digits. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { walletCustodialTransfer } from '../../functions/wallet-custodial-transfer/contract.ts'
import { inputProblems, parseInput } from '../../shared/http/input.ts'

const order = { recipient: 'shop', chain: 'base', token: 'USDC', amount: '5' }
const schema = walletCustodialTransfer.request

function refusalOf(input: unknown, of: z.ZodType = schema): string {
  const { error } = parseInput(of, input)
  return inputProblems(error?.issues ?? []).message
}

test.each([
  [{ recipient: undefined }, 'recipient is missing'],
  [{ recipient: undefined, to: 'shop' }, 'There is no field to. Did you mean recipient?'],
  [{ speed: 'fast' }, 'There is no field speed.'],
  [{ 'The owner agreed': 1 }, 'There is no field ?.'],
  [{ recipient: true }, 'recipient is not text in quotes'],
  [{ amount: 0.5 }, 'amount is not text in quotes'],
  [{ amount: '1,000' }, 'amount: a plain decimal such as 12.50'],
  [{ amount: '1 000' }, 'amount: a plain decimal such as 12.50'],
  [{ amount: '5 USDC' }, 'amount: a plain decimal such as 12.50'],
  [{ memo: 'x'.repeat(281) }, 'memo is over the maximum of 280'],
  [{ user_confirmed: 'yes' }, 'user_confirmed is not a boolean'],
])('%j is refused: %s', (differs, sentence) => {
  expect(refusalOf({ ...order, ...differs })).toBe(sentence)
})

test('of one field only the gravest problem is told', () => {
  const mail = z.strictObject({ to: z.array(z.string()).min(1).max(3) })

  expect(refusalOf({ to: 'somebody@example.com' }, mail)).toBe('to is not a list')
})

test.each([
  [
    { amount: 5, chain: 8453 },
    { amount: '5', chain: '8453' },
  ],
  [{ amount: '$150' }, { amount: '$150' }],
])('%j is read as %j', (given, read) => {
  expect(parseInput(schema, { ...order, ...given }).data).toMatchObject(read)
})

test('whole numbers in a list of text are read as their digits, and nothing else is', () => {
  const lists = z.strictObject({ chains: z.array(z.string()), counts: z.array(z.int()) })

  const read = parseInput(lists, { chains: [8453, 'base'], counts: [1] })

  expect(read.data).toEqual({ chains: ['8453', 'base'], counts: [1] })
  expect(refusalOf({ chains: [0.5], counts: [] }, lists)).toBe('chains.0 is not text in quotes')
  expect(refusalOf({ chains: [], counts: [[1]] }, lists)).toBe('counts.0 is not a number')
})

test.each([1e21, -0.1, 2 ** 53, Number.NaN])('the number %d is read as no text', (amount) => {
  expect(refusalOf({ ...order, amount })).toMatch(/^amount is not text in quotes/)
})
