import { expect, test } from 'vitest'
import { hasOneOperator, operatorOf } from '../../../shared/chains/evm/endpoints.ts'
import { agreedCount, isEnough } from '../../../shared/chains/evm/enough.ts'

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
  expect(isEnough(votes(text))).toBe(expected)
})

test('a chain without endpoints agrees to nothing', () => {
  expect(isEnough([])).toBe(false)
})

test.each([
  ['a5', 5],
  ['a5 b5', 5],
  ['a5 b900', 5],
  ['a5 b0', 0],
  ['a5 b-', 0],
  ['a5 b900 c4', 5],
  ['a5 b900 c-', 5],
  ['a900 a900 c5', 5],
  ['a900 b- c-', 0],
])('of counts %s as many are agreed as %i', (text, expected) => {
  const told = text.split(' ').map((word) => ({
    operator: word.slice(0, 1),
    count: word.endsWith('-') ? undefined : Number(word.slice(1)),
  }))

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
    hasOneOperator([a, c]),
  ]).toEqual([true, true, true, false])
})
