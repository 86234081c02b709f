/** Names by which a test concerns a change that it does not import. */
import type { TextFile } from '../../tests/support/tidy/files.ts'

export type Clue = {
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
export function cluesOf(
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
export function sqlFunctionsOf(files: readonly TextFile[]): string[] {
  const defined = /\bcreate (?:or replace )?function (?:api|private)\.(\w+)/g
  const texts = files.filter(({ path }) => path.endsWith('.sql')).map(({ text }) => text)
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
