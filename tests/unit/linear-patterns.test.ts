/** Patterns take time in proportion to the text that they read, whoever wrote the text. */
import { check } from 'recheck'
import { expect, test } from 'vitest'
import { sourcesIn } from '../support/tidy/files.ts'
import type { Pattern } from '../support/tidy/patterns.ts'
import { builtBy, writtenIn } from '../support/tidy/patterns.ts'

/** Patterns that only ever read a text of bounded length: where, how they begin, and that length. */
const bounded: readonly [path: string, begins: string, charactersMax: number][] = [
  // The gap between a name and a candidate, both within reach of each other.
  ['shared/mailbox/code-words.ts', '^\\p{L}{0,14}(?:[\\s', 90],
  ['shared/mailbox/code-words.ts', '^\\p{L}{0,14}[\\s:#', 90],
  // Of a request, and bounded by its contract.
  ['shared/vault/password-rules.ts', '(?:\\[.*?\\]', 1_024],
  ['shared/vault/password-rules.ts', '\\[.*?\\]', 1_024],
]

/** Steps that repetitions with a bound may take at one place. */
const stepsMax = 5_000

/** Repeats within bounds alone, so that each place of a text is left after so many steps. */
function isBounded(source: string): boolean {
  const plain = source.replaceAll(/\\./g, 'x').replaceAll(/\[[^\]]*\]/g, 'x')
  return !/[*+]/.test(plain) && plain.split('|').every((part) => stepsOf(part) <= stepsMax)
}

function stepsOf(alternative: string): number {
  const bounds = [...alternative.matchAll(/\{(\d+)(,?)(\d*)\}/g)].map(([, least, comma, most]) =>
    comma === '' ? Number(least) : most === '' ? Infinity : Number(most),
  )
  return bounds.reduce((steps, one) => steps * one, 1)
}

const product = sourcesIn('shared', 'functions')

async function findingOf({ path, source, flags }: Pattern): Promise<string[]> {
  if (isBounded(source)) return []
  if (bounded.some(([at, begins]) => at === path && source.startsWith(begins))) return []
  const { status } = await check(source, flags, { timeout: 60_000 })
  return status === 'safe' ? [] : [`${status}: ${path} /${source}/${flags}`]
}

test('a pattern that can run longer than linear is found', async () => {
  const found = await findingOf({ path: '', source: '\\s+$', flags: '' })

  expect(found).toEqual(['vulnerable:  /\\s+$/'])
})

test('no pattern of the product can run longer than linear on a text without bound', async () => {
  const patterns = [...product.flatMap(writtenIn), ...(await builtBy(product))]
  const distinct = new Map(patterns.map((one) => [`${one.path} ${one.source} ${one.flags}`, one]))

  // One after the other: what waits for its turn uses up its time.
  const found: string[] = []
  for (const one of distinct.values()) found.push(...(await findingOf(one)))

  expect(patterns.length).toBeGreaterThan(350)
  expect(found).toEqual([])
}, 600_000)
