/** Compares this commit with another one: both run the same measurements in turns, each with its own bench. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { median } from './report.ts'

const root = join(import.meta.dirname, '..', '..')
const written = z.object({
  figures: z.array(
    z.object({ name: z.string(), value: z.number(), detail: z.record(z.string(), z.number()) }),
  ),
})

/** Options of the bench that both sides are given. */
export type Compared = { ref: string; turns: number; only: string; rounds: string; rows: string }

/**
 * Prints each figure of this commit over that of `ref`, as medians of the turns. Throws if the other commit cannot
 * be checked out, installed or measured.
 */
export function benchAgainst({ ref, turns, ...options }: Compared): void {
  const directory = mkdtempSync(join(tmpdir(), 'aoa-against-'))
  const other = join(directory, 'clone')
  try {
    run('git', ['clone', '--quiet', '--shared', '--no-checkout', root, other], root)
    run('git', ['checkout', '--quiet', ref], other)
    run('npm', ['ci', '--silent', '--prefer-offline'], other)
    const found = new Map<string, { ours: number[]; theirs: number[] }>()
    for (let turn = 1; turn <= turns; turn += 1) {
      console.error(`turn ${turn} of ${turns}`)
      for (const side of ['ours', 'theirs'] as const) {
        const out = join(directory, `${side}.json`)
        measure(side === 'ours' ? root : other, options, out)
        for (const [name, value] of valuesIn(out)) {
          const values = found.get(name) ?? { ours: [], theirs: [] }
          values[side].push(value)
          found.set(name, values)
        }
      }
    }
    print(found, ref)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function measure(cwd: string, options: Omit<Compared, 'ref' | 'turns'>, out: string): void {
  const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  run('npm', ['run', '--silent', 'bench', '--', ...given, '--out', out], cwd)
}

function valuesIn(file: string): [string, number][] {
  const { figures } = written.parse(JSON.parse(readFileSync(file, 'utf8')))
  return figures.flatMap(({ name, value, detail }) => [
    [name, value] as [string, number],
    ...Object.entries(detail).map(([key, number]): [string, number] => [`${name}: ${key}`, number]),
  ])
}

function print(found: Map<string, { ours: number[]; theirs: number[] }>, ref: string): void {
  for (const [name, { ours, theirs }] of found) {
    if (ours.length === 0 || theirs.length === 0) continue
    const [mine, other] = [median(ours), median(theirs)]
    console.log(
      `${name}: ${mine.toFixed(3)}, ${other.toFixed(3)} at ${ref}, ratio ${(mine / other).toFixed(3)}`,
    )
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ''} failed in ${cwd}:\n${stderr}`)
}
