import { expect, test } from 'vitest'
import { agreedCount, isQuorum } from '../../../shared/chains/evm/quorum/enough.ts'
import { hasOneOperator, operatorOf } from '../../../shared/chains/evm/rpc/endpoints.ts'

const votes = (text: string) =>
  text.split(' ').map((word) => ({ operator: word.slice(1), agrees: word.startsWith('+') }))

test.each([
  ['+a', true],
  ['-a', false],
  ['+a +b', true],
  ['+a -b', false],
  ['-a -b', false],
  ['+a +b -c', true],
  ['+a -b -c', false],
  ['+a +a -c', false],
  ['+a +a +a', true],
  ['+a +a -a', false],
  ['+a +a +b -c -d', true],
])('endpoints that say %s agree: %s', (text, expected) => {
  expect(isQuorum(votes(text))).toBe(expected)
})

test('a chain without endpoints agrees to nothing', () => {
  expect(isQuorum([])).toBe(false)
})

test.each([
  ['a7', 7],
  ['a7 b7', 7],
  ['a7 b9', 7],
  ['a7 b900', 7],
  ['a7 b0', 0],
  ['a7 b', undefined],
  ['a7 b9 c8', 8],
  ['a0 b9 c8', 8],
  ['a99 b9 c8', 9],
  ['a9 a8 c1', 1],
  ['a9 a8 a1', 1],
  ['a9 b c8', 8],
  ['a9 b c', undefined],
])('of counts %s as many are agreed as %s', (text, expected) => {
  const told = text.split(' ').map((word) => {
    const count = word.length > 1 ? Number(word.slice(1)) : undefined
    return { operator: word.slice(0, 1), count }
  })

  expect(agreedCount(told)).toBe(expected)
})

test.each([
  ['https://base.rpc.example.com/v1/key', 'example.com'],
  ['https://eth.example.com', 'example.com'],
  ['https://one.provider.co.uk', 'co.uk'],
  ['http://127.0.0.1:8545', '127.0.0.1:8545'],
  ['http://localhost:8546/x', 'localhost:8546'],
  ['http://node.localhost:8547', 'node.localhost:8547'],
  ['http://[::1]:8548', '[::1]:8548'],
])('%s is run by %s', (url, operator) => {
  expect(operatorOf(url)).toBe(operator)
})

test('endpoints of one operator are one voice', () => {
  const [a, b, c] = ['https://a.example.com', 'https://b.example.com', 'https://other.example.net']

  expect([
    hasOneOperator([]),
    hasOneOperator([a]),
    hasOneOperator([a, b]),
    hasOneOperator([a, 'https://b.example.com./']),
    hasOneOperator([a, c]),
  ]).toEqual([true, true, true, true, false])
})
