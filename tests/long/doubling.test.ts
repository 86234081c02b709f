/** Twice as much of what a stranger wrote takes twice as long to read, and a megabyte a second at most. */
import { expect, test } from 'vitest'
import { objectionTo } from '../support/doubling/measure.ts'
import { parsers } from '../support/doubling/parsers.ts'
import type { Text } from '../support/doubling/texts.ts'
import { texts, textsOfPatterns } from '../support/doubling/texts.ts'

async function objectionsTo(name: string, all: readonly Text[]): Promise<string[]> {
  const parser = parsers.find((one) => one.name === name)
  if (!parser) throw new Error(`nothing reads ${name}`)
  const found: string[] = []
  for (const text of all) found.push(...[(await objectionTo(parser, text)) ?? []].flat())
  return found
}

test('work that grows with the square of a text is found', async () => {
  const read = (text: string) => text.length > 0 && /\s+$/.test(`${text}x`)
  const spaces = { name: 'spaces', of: (length: number) => ' '.repeat(length) }

  expect(await objectionTo({ name: 'ends', most: 65_536, read }, spaces)).toMatch(/^ends, spaces: /)
})

test.each(parsers)('$name of any kind is read in proportion to its length', async ({ name }) => {
  expect(await objectionsTo(name, texts)).toEqual([])
})

test.each([
  ['a mail with text', 'shared/mailbox'],
  ['a mail with HTML', 'shared/mailbox'],
  ['headers', 'shared/mailbox'],
  ['a page with forms', 'shared/vault'],
  ['challenges', 'shared/x402'],
  ['a merchant', 'shared/mandates'],
])('%s of what its own patterns match is read so, too', async (name, folder) => {
  expect(await objectionsTo(name, textsOfPatterns(folder, 'shared/mail'))).toEqual([])
})
