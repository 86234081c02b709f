/** Forms of browsers are read whole, and those of others in proportion to their length. */
import { expect, test } from 'vitest'
import { formFieldsIn } from '../../shared/http/input.ts'
import { objectionTo } from '../support/doubling/measure.ts'

test('reads what a browser sends, also fields that are empty or there twice', () => {
  const sent: [string, string][] = [
    ['a', 'x & y=z'],
    ['b', ''],
    ['a', 'ü'],
  ]

  expect([...formFieldsIn(new URLSearchParams(sent).toString())]).toEqual(sent)
})

test('a form of only names is read in proportion to its length', async () => {
  const parser = { name: 'a form', most: 1024 * 1024, read: formFieldsIn }
  const names = { name: 'names', of: (length: number) => 'a&'.repeat(length / 2) }

  expect(await objectionTo(parser, names)).toBeUndefined()
})
