/**
 * Selects the test files that a change concerns. Nearly every test imports the world, which imports every
 * operation, so imports are followed up to such hubs, and from an operation on to the tests that name its
 * path. The nearest tests are taken first, up to a bound.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { TextFile } from '../../tests/support/tidy/files.ts'
import { type Graph, graphOf } from '../../tests/support/tidy/imports.ts'

type Reason = 'always' | 'changed' | 'imports' | 'name'
type Choice = { path: string; reason: Reason; steps: number; mentions: number }
export type Selection = { taken: Choice[]; left: Choice[] }

/** Files that join everything: what imports them need not concern what they import. */
const hubs = new Set([
  'functions/contracts.ts',
  'functions/web/index.ts',
  'tests/support/functions.ts',
  'tests/support/product.ts',
  'tests/support/world.ts',
])
/** Upper bound on test files that are some steps away, so that a run ends within a minute. */
const distantMax = 16

/** Divides the tests that a change concerns into those to run and those left for their number. */
export function selectTests(files: readonly TextFile[], changed: readonly string[]): Selection {
  const sources = files.filter(({ path }) => /\.tsx?$/.test(path))
  const ofSql = sqlFunctionsOf(files.filter(({ path }) => changed.includes(path)))
  const callers = sources.filter(
    ({ path, text }) =>
      /^(shared|functions)\//.test(path) &&
      path !== 'shared/db/functions.ts' &&
      ofSql.some((name) => text.includes(`'${name}'`)),
  )
  const starts = [...changed, ...callers.map(({ path }) => path)]
  const steps = importersOf(graphOf(sources, 'loaded'), starts)
  const clues = cluesOf(files, changed, ofSql, steps)
  const choices = sources
    .filter(({ path }) => path.endsWith('.test.ts') && !path.startsWith('tests/long/'))
    .flatMap((test) => reasonsFor(test, changed, steps, clues).toSorted(byNearness).slice(0, 1))
    .toSorted(byNearness)
  const near = choices.filter((one) => one.steps === 0)
  const distant = choices.slice(near.length)
  return { taken: [...near, ...distant.slice(0, distantMax)], left: distant.slice(distantMax) }
}

/** Returns all files that load one of these, and the number of imports between; a hub ends the way. */
export function importersOf(graph: Graph, starts: readonly string[]): Map<string, number> {
  const importers = new Map<string, string[]>()
  for (const [path, { files }] of graph) {
    for (const file of files) importers.set(file, [...(importers.get(file) ?? []), path])
  }
  const steps = new Map(starts.map((path) => [path, 0]))
  for (const [path, step] of steps) {
    if (step > 0 && hubs.has(path)) continue
    for (const next of importers.get(path) ?? []) {
      if (!steps.has(next)) steps.set(next, step + 1)
    }
  }
  return steps
}

function reasonsFor(
  { path, text }: TextFile,
  changed: readonly string[],
  steps: ReadonlyMap<string, number>,
  clues: readonly Clue[],
): Choice[] {
  const choice = (reason: Reason, at: number, mentions = 0) => ({
    path,
    reason,
    steps: at,
    mentions,
  })
  if (changed.includes(path)) return [choice('changed', 0)]
  const isOfSql = path.startsWith('tests/sql/') && changed.some((one) => one.endsWith('.sql'))
  if (isOfSql || path === 'tests/tidy.test.ts') return [choice('always', 0)]
  const isOfBrowser = path.startsWith('tests/browser/')
  const imported = isOfBrowser ? undefined : steps.get(path)
  const named = clues
    .filter((clue) => !isOfBrowser || clue.isChangedPage)
    .map((clue) => ({ clue, mentions: clue.mentions(text) }))
    .filter(({ mentions }) => mentions > 0)
    .map(({ clue, mentions }) => {
      const isOwn = clue.own !== undefined && path.startsWith(clue.own)
      return choice('name', clue.steps + (isOwn ? 1 : 2), mentions)
    })
  return [...named, ...(imported === undefined ? [] : [choice('imports', imported)])]
}

/** Orders by distance; of tests equally far, those of units come first, then those that say a name most. */
function byNearness(a: Choice, b: Choice): number {
  const isIn = (folder: string, { path }: Choice) => Number(path.startsWith(`tests/${folder}/`))
  return (
    a.steps - b.steps ||
    isIn('unit', b) - isIn('unit', a) ||
    b.mentions - a.mentions ||
    isIn('operations', b) - isIn('operations', a)
  )
}

/** Says in one line what was selected, why, and what was left. */
export function describe(changed: readonly string[], { taken, left }: Selection): string {
  const reasons = [...Map.groupBy(taken, ({ reason }) => reason)]
  const words = { always: 'always', changed: 'changed', imports: 'by imports', name: 'by a name' }
  const why = reasons.map(([reason, of]) => `${of.length} ${words[reason]}`).join(', ')
  const isLong = changed.some((path) => path.startsWith('tests/long/'))
  return [
    `Changed files: ${changed.length}. Test files: ${taken.length} (${why})`,
    ...(left.length > 0 ? [`${left.length} further ones are left to npm test`] : []),
    ...(isLong ? ['those of tests/long/ are left to npm run test:long'] : []),
  ].join('; ')
}

/** Returns what differs from where the branch left another: committed, not committed, or not added. */
export function filesSince(ref: string, root: string): string[] | string {
  const [base] = git(root, ['merge-base', ref, 'HEAD']) ?? []
  const differing =
    base && git(root, ['diff', '-z', '--name-only', '--no-renames', '--relative', base])
  const untracked = git(root, ['ls-files', '-z', '--others', '--exclude-standard'])
  if (!differing || !untracked) {
    return `git cannot say what changed since ${ref}. Name a branch or commit with --since, or the paths.`
  }
  return [...differing, ...untracked]
}

/** Returns the files that these paths name, or that lie in folders that they name. */
export function filesBelow(
  paths: readonly string[],
  files: readonly TextFile[],
): string[] | string {
  const found = paths.map((named) => {
    const whole = join(named, '.')
    return files.filter(({ path }) => path === whole || path.startsWith(`${whole}/`))
  })
  const missing = paths.filter((_, at) => found[at]?.length === 0)
  if (missing.length > 0) return `No file is at ${missing.join(', ')}. Name paths from the root.`
  return [...new Set(found.flat().map(({ path }) => path))]
}

function git(root: string, args: readonly string[]): string[] | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.split(/[\0\n]/).filter((line) => line !== '') : undefined
}

type Clue = {
  /** Counts how often a test says the name. */
  mentions: (text: string) => number
  /** Beginning of the paths of tests that are about this name alone. */
  own?: string
  /** Number of imports between what changed and what has the name. */
  steps: number
  /** Holds for a page whose own file changed, which is tried in browsers as well. */
  isChangedPage?: boolean
}

/** Returns paths of operations and pages that reach a change, changed SQL functions, and other files. */
function cluesOf(
  files: readonly TextFile[],
  changed: readonly string[],
  sqlFunctions: readonly string[],
  steps: ReadonlyMap<string, number>,
): Clue[] {
  const served = files.flatMap((file) => {
    const step = steps.get(file.path)
    return step === undefined ? [] : servedBy(file).map((path) => clueOfPath(path, step))
  })
  const others = changed.filter((path) => !/\.(tsx?|sql)$/.test(path))
  return [
    ...served,
    ...sqlFunctions.map((name) => ({ mentions: counter(`\\b${name}\\b`), steps: 0 })),
    ...others.map((path) => {
      const name = path.slice(path.lastIndexOf('/') + 1)
      return { mentions: (text: string) => text.split(name).length - 1, steps: 0 }
    }),
  ]
}

/** Returns names of the functions that these files of SQL define. */
function sqlFunctionsOf(files: readonly TextFile[]): string[] {
  const defined = /\bcreate (?:or replace )?function (?:api|private)\.(\w+)/g
  const written = ({ path, text }: TextFile) =>
    path.endsWith('.sql') && !text.startsWith('-- Generated by ')
  const texts = files.filter(written).map(({ text }) => text)
  return [
    ...new Set(texts.flatMap((text) => [...text.matchAll(defined)]).map(([, name = '']) => name)),
  ]
}

/** Returns the first parts of the paths that a file of a function answers at. */
function servedBy({ path, text }: TextFile): string[] {
  const [top, folder, file] = path.split('/')
  if (top !== 'functions' || folder === undefined || file === undefined) return []
  if (folder !== 'web') return [`/${folder}`]
  const routes = text.matchAll(/\bapp\.(?:get|post)\('\/([a-z-]+)/g)
  return [...new Set([...routes].map(([, page = '']) => `/web/${page}`))]
}

function clueOfPath(path: string, steps: number): Clue {
  const [, page] = path.split('/web/')
  if (page === undefined) {
    return { mentions: counter(`['"\`}]${path}(?![-\\w])`), own: `tests/operations${path}`, steps }
  }
  const mentions = counter(`(?:['"\`]/web|\\bweb(?:_?[uU]rl)?\\})/${page}(?![-\\w])`)
  return { mentions, own: `tests${path}`, steps, isChangedPage: steps === 0 }
}

function counter(pattern: string): (text: string) => number {
  const all = new RegExp(pattern, 'g')
  return (text) => [...text.matchAll(all)].length
}
