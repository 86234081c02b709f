/** Patterns take time linear in the length of the text, whoever wrote it. */
import { check } from 'recheck'
import { expect, test } from 'vitest'
import { excerptOf } from '../support/cases.ts'
import { sourcesIn } from '../support/tidy/files.ts'
import { builtBy, type Pattern, writtenIn } from '../support/tidy/patterns.ts'

/** Patterns that read only text of bounded length: their path, their beginning and that length. */
const bounded: readonly [path: string, begins: string, charactersMax: number][] = [
  // The gap between a name and a candidate, which are close together.
  ['shared/mailbox/codes/words.ts', '^\\p{L}{0,14}(?:[\\s', 90],
  ['shared/mailbox/codes/words.ts', '^\\p{L}{0,14}[\\s:#', 90],
  // An alias.
  ['shared/onboarding/alias.ts', '^((auth|', 32],
  // Text of a request, which its contract bounds.
  ['shared/vault/passwords.ts', '(?:\\[.*?\\]', 1_024],
  ['shared/vault/passwords.ts', '\\[.*?\\]', 1_024],
]

/** Maximum number of steps of bounded repetitions at one position. */
const stepsMax = 5_000

/** Returns true if all repetitions are bounded, so that the steps per position are limited. */
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

  // The checks run one after the other, since waiting would use up the timeout of a check.
  const found: string[] = []
  for (const one of excerptOf([...distinct.values()], 60)) found.push(...(await findingOf(one)))

  expect(patterns.length).toBeGreaterThan(350)
  expect(found).toEqual([])
}, 600_000)
