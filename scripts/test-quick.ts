/** Checks and tests what a change touches, in under a minute for one operation. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { filesIn, root } from '../tests/support/tidy/files.ts'
import { graphOf } from '../tests/support/tidy/imports.ts'
import { describe, filesBelow, filesSince, importersOf, selectTests } from './test-quick/select.ts'

const help = `npm run test:quick -- [--since main] [path] ...

Checks the format of changed files, the types and lint of those and of what imports them, and runs the
tests that the change concerns: tests that import a changed file, and those that name the path of a
changed operation or page, the nearest first. One line says what was selected, and how much is left to
npm test. It ends as the tests end.

--since  a branch or commit; changed is what differs from where this branch left it, committed or not
path     a file or folder that counts as changed, in place of asking git`

const formatting = ['check', '--config-path=scripts/format.json', '--no-errors-on-unmatched']
const linting = ['--type-aware', '--type-check', '-c', 'scripts/oxlint.json']
const testing = ['run', '--config', 'tests/vitest.config.ts']

process.exitCode = run()

function run(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      since: { type: 'string', default: 'main' },
    },
  })
  if (values.help) {
    console.log(help)
    return 0
  }
  const files = filesIn()
  const changed =
    positionals.length > 0 ? filesBelow(positionals, files) : filesSince(values.since, root)
  if (typeof changed === 'string') {
    console.error(changed)
    return 2
  }
  if (changed.length === 0) {
    console.log('Nothing changed.')
    return 0
  }
  const selection = selectTests(files, changed)
  console.log(describe(changed, selection))

  const sources = files.filter(({ path }) => isSource(path))
  const typed = [...importersOf(graphOf(sources), changed.filter(isSource)).keys()]
  return (
    start('biome', [...formatting, ...changed.filter(isThere)]) ||
    (typed.length === 0 ? 0 : start('oxlint', [...linting, ...typed.filter(isThere)])) ||
    start('vitest', [...testing, ...selection.taken.map(({ path }) => path)])
  )
}

function isSource(path: string): boolean {
  return /^(functions|shared|scripts|tests)\/.*\.tsx?$/.test(path)
}

/** Decides whether a changed file was not deleted. */
function isThere(path: string): boolean {
  return existsSync(join(root, path))
}

/** Runs a program of the packages until it ends, and returns its exit code. */
function start(program: string, args: readonly string[]): number {
  const { status } = spawnSync(join(root, 'node_modules/.bin', program), args, {
    cwd: root,
    stdio: 'inherit',
  })
  return status ?? 1
}
