/** Doubling a text of a stranger at most doubles the time to read it, at a megabyte a second or faster. */
import { expect, test } from 'vitest'
import { objectionTo } from '../support/doubling/measure.ts'
import { parsers } from '../support/doubling/parsers.ts'
import { type Text, texts, textsOfPatterns } from '../support/doubling/texts.ts'

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

  expect(await objectionTo({ name: 'ends', most: 32_768, read }, spaces)).toMatch(/^ends, spaces: /)
})

const most = 1024 * 1024
const anyText = { name: 'any text', of: (length: number) => 'x'.repeat(length) }

/** Returns the objection to work of so many milliseconds by length, and the lengths that were read. */
async function objectionToWork(work: (length: number) => number) {
  const lengths: number[] = []
  const parser = { name: 'counted', most, read: () => undefined }
  const objection = await objectionTo(parser, anyText, (_, { length }) => {
    lengths.push(length)
    return Promise.resolve(work(length))
  })
  return { objection, longest: Math.max(...lengths) }
}

test('of a text that is plainly linear at most a quarter is read', async () => {
  const { objection, longest } = await objectionToWork((length) => 3 + (400 * length) / most)

  expect([objection, longest]).toEqual([undefined, most / 4])
})

test.each([
  ['a square that grows to seven tenths', (share: number) => 300 * (share + 0.7 * share ** 2)],
  ['a square behind a fixed part', (share: number) => 60 + 500 * share ** 2],
  ['a rate just above the limit', (share: number) => 1_001 * share],
])('%s is found, though a quarter of the text is cheap', async (_, work) => {
  const { objection } = await objectionToWork((length) => work(length / most))

  expect(objection).toMatch(/^counted, any text: /)
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
