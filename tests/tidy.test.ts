/** The code meets its measured rules of style. Nothing is exempt. */
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import {
  filesIn,
  operationFolders,
  quantile,
  sourcesIn,
  type TextFile,
} from './support/tidy/files.ts'
import { cyclesOf, folderGraph, graphOf, longestChain } from './support/tidy/imports.ts'
import { isConfined, pointsRight } from './support/tidy/layers.ts'
import { read, type Syntax } from './support/tidy/syntax.ts'

const product = sourcesIn('functions', 'shared')
const sources = [...product, ...sourcesIn('scripts')]
const tests = sourcesIn('tests')
const syntax = new Map([...sources, ...tests].map((file) => [file.path, read(file)]))
const everything = filesIn()
const edge = graphOf(product)

function of(files: readonly TextFile[]): Syntax[] {
  return files.flatMap(({ path }) => syntax.get(path) ?? [])
}

/** Returns findings in the `path:line` form that an editor opens. */
function placesOf(
  files: readonly TextFile[],
  what: 'unsound' | 'casts' | 'undocumented' | 'outside',
) {
  return of(files).flatMap((one) =>
    one[what].map(({ line, name }) => `${one.path}:${line} ${name}`),
  )
}

function linesMatching(files: readonly TextFile[], pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1} ${line}`] : [])),
  )
}

const inShared = ({ path }: TextFile) => path.startsWith('shared/')

test('source files have at most 400 lines, nine of ten 200', () => {
  const lines = sources.map((file) => file.lines)
  expect(sources.filter((file) => file.lines > 400).map(({ path }) => path)).toEqual([])
  expect(quantile(lines, 0.9)).toBeLessThanOrEqual(200)
})

test('functions have at most 50 lines, nine of ten 25', () => {
  const functions = of(sources).flatMap((one) =>
    one.functions.map(({ name, line, lines }) => ({ at: `${one.path}:${line} ${name}`, lines })),
  )
  expect(functions.filter(({ lines }) => lines > 50)).toEqual([])
  const lines = functions.map((one) => one.lines)
  expect(quantile(lines, 0.9)).toBeLessThanOrEqual(25)
})

test('a folder of the product has at most 25 files', () => {
  const folders = Map.groupBy(sources, ({ path }) => dirname(path))
  const full = [...folders].filter(([, files]) => files.length > 25)
  expect(full.map(([folder, files]) => `${folder} ${files.length}`)).toEqual([])
})

test('a function name stands in at most two folders', () => {
  // Handlers export `run`, and pages `routes`: the same thing everywhere.
  const places = new Map<string, Set<string>>()
  for (const { path, text } of sources) {
    for (const [, name = '', constant = ''] of text.matchAll(
      /^(?:export )?(?:(?:async )?function\*? (\w+)|const (\w+) = (?:async )?(?:\(|\w+ =>))/gm,
    )) {
      const known = places.get(name || constant) ?? new Set()
      places.set(name || constant, known.add(dirname(path)))
    }
  }
  const often = [...places].filter(([name, { size }]) => size > 2 && name !== 'run')
  expect(often.map(([name, folders]) => `${name} ${[...folders].join(' ')}`)).toEqual([])
})

test("an operation's folder has at most 150 lines, half of them 95", () => {
  const folders = operationFolders(product)

  expect(folders.filter(({ lines }) => lines > 150)).toEqual([])
  const lines = folders.map((folder) => folder.lines)
  expect(quantile(lines, 0.5)).toBeLessThanOrEqual(95)
})

test('test files have at most 300 lines', () => {
  expect(tests.filter(({ lines }) => lines > 300).map(({ path }) => path)).toEqual([])
})

test('files of the SQL schemas have at most 450 lines', () => {
  const long = filesIn('supabase/schemas').filter(({ lines }) => lines > 450)
  expect(long.map(({ path }) => path)).toEqual([])
})

test('no any, no non-null assertion, no enum', () => {
  expect(placesOf([...sources, ...tests], 'unsound')).toEqual([])
})

test('at most 3 casts in 1,000 lines', () => {
  for (const files of [sources, tests]) {
    const casts = placesOf(files, 'casts')
    const lines = files.reduce((sum, file) => sum + file.lines, 0)
    expect((casts.length * 1000) / lines, casts.join('\n')).toBeLessThanOrEqual(3)
  }
})

test('no file is reached from itself through imports, types included', () => {
  const cycles = cyclesOf(graphOf([...sources, ...tests]))
  expect(cycles.map((cycle) => cycle.join(' > '))).toEqual([])
})

test('stages of a payment do not import each other in a circle', () => {
  const stages = folderGraph(graphOf(sources), 'shared/payments/')

  expect(stages.get('pay')?.files).toContain('decide')
  expect(cyclesOf(stages)).toEqual([])
})

test('what a function loads lies at most 6 imports deep', () => {
  const chain = longestChain(graphOf(product, 'loaded'))
  expect(chain.length - 1, chain.join('\n')).toBeLessThanOrEqual(6)
})

test('every export of shared/ has a doc comment, and every file there says what it is for', () => {
  expect(placesOf(product.filter(inShared), 'undocumented')).toEqual([])
  const silent = product.filter((file) => inShared(file) && !file.text.startsWith('/**'))
  expect(silent.map(({ path }) => path)).toEqual([])
})

test('comments are 10 to 20 lines in a hundred', () => {
  const measured = of(sources)
  const comments = measured.reduce((sum, { commentLines }) => sum + commentLines, 0)
  const share = comments / measured.reduce((sum, { fullLines }) => sum + fullLines, 0)
  expect(share).toBeGreaterThanOrEqual(0.1)
  expect(share).toBeLessThanOrEqual(0.2)
})

test('at most 20 comments open with a question word or say "is no"', () => {
  const riddle = /^[\s*]*(What|Whether|Who|Where)\b|\bis no\b/
  const riddles = of([...sources, ...tests]).flatMap(({ path, comments }) =>
    comments.filter((text) => riddle.test(text)).map((text) => `${path} ${text}`),
  )
  expect(riddles.length, riddles.join('\n')).toBeLessThanOrEqual(20)
})

test('clock, randomness and network come in through shared/world.ts alone', () => {
  // Code that runs in a browser has no world.
  const others = product.filter(
    ({ path }) => path !== 'shared/world.ts' && !path.startsWith('functions/web/client/'),
  )
  expect(placesOf(others, 'outside')).toEqual([])
})

test('imports point one way, and no function imports another', () => {
  const links = [...edge].flatMap(([from, { files }]) => files.map((to) => ({ from, to })))
  const wrong = links.filter(({ from, to }) => !pointsRight(from, to))
  expect(wrong.map(({ from, to }) => `${from} > ${to}`)).toEqual([])
})

test('each vendor stays in the folders that own it', () => {
  const uses = [...edge].flatMap(([from, { packages }]) => packages.map((name) => ({ from, name })))
  const wrong = uses.filter(({ from, name }) => !isConfined(name, from))
  expect(wrong.map(({ from, name }) => `${from} > ${name}`)).toEqual([])
})

test('names speak of the domain, not of the code', () => {
  const vague = /(^|[-/])(utils?|helpers?|manager|services?|misc|impl|common)([-./]|$)/i
  expect([...sources, ...tests].map(({ path }) => path).filter((path) => vague.test(path))).toEqual(
    [],
  )
})

test('nothing is left undone, and no comment is a banner', () => {
  const texts = everything.filter(({ path }) => !path.endsWith('package-lock.json'))
  expect(linesMatching(texts, /\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b/)).toEqual([])
  const banner = (text: string) => /([-=*#~])\1{5}/.test(text)
  const banners = of([...sources, ...tests]).filter(({ comments }) => comments.some(banner))
  expect(banners.map(({ path }) => path)).toEqual([])
})

test('no path of a machine and no package registry is written anywhere', () => {
  expect(linesMatching(everything, /(^|[\s'"`(=])\/(work|tmp|home|root|Users)\//)).toEqual([])
  expect(linesMatching(everything, /https?:\/\/[a-z0-9.-]*(registry|artifactory)[.:]/)).toEqual([])
})

test('no test is skipped, sleeps, or replaces our own code', () => {
  expect(
    linesMatching(tests, /\b(test|it|describe)\.(skip|only|todo|fails|skipIf|runIf)\b/),
  ).toEqual([])
  expect(linesMatching(tests, /\bvi\.(mock|doMock|spyOn|fn|useFakeTimers)\(/)).toEqual([])
  const timers = placesOf(tests, 'outside').filter((place) => place.endsWith('setTimeout'))
  expect([...timers, ...linesMatching(tests, /from 'node:time[r]s/)]).toEqual([])
})

test('a test is named by its guarantee in the present tense', () => {
  expect(linesMatching(tests, /^\s*(test|describe)\b.*['"`].*\bshould\b/)).toEqual([])
})
