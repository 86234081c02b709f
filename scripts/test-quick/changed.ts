/** The changed files, by path from the root; a sentence says what to do if nobody can tell. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { TextFile } from '../../tests/support/tidy/files.ts'

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
