/** The result of a measurement, and how it is printed. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { listen } from '../local/process/listen.ts'

/** One measured value with its target. */
export type Figure = {
  name: string
  /** The measured value: a ratio, or milliseconds where the name says so. */
  value: number
  target: number
  /** True if the target is a minimum; otherwise it is a maximum. */
  isMinimum?: boolean
  /** Medians and other numbers that help to judge the value. */
  detail: Readonly<Record<string, number>>
}

/** Prints each value with its target and details. */
export function printFigures(figures: readonly Figure[]): void {
  for (const { name, value, target, isMinimum = false, detail } of figures) {
    const verdict = (isMinimum ? value >= target : value <= target) ? 'reached' : 'missed'
    console.log(`${name}: ${value.toFixed(2)} (target ${target.toFixed(2)}, ${verdict})`)
    for (const [key, number] of Object.entries(detail))
      console.log(`    ${key}: ${number.toFixed(3)}`)
  }
}

/** Returns the value below which this part of the sorted values lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

/** Returns the middle one of the sorted values. */
export const median = (values: readonly number[]) => quantile(values, 0.5)

/** Name and arguments of one database function that was called. */
export type Call = { name: string; args: Record<string, unknown> }

/** A running proxy and what it has recorded. */
export type Recorder = {
  url: string
  /** Returns the calls since the last `take`; calls that overlapped are in one group. */
  take(): Call[][]
  close(): Promise<void>
}

const argsSchema = z.record(z.string(), z.unknown())

/** Starts the proxy on a free port. */
export async function startRecorder(gatewayUrl: string): Promise<Recorder> {
  let groups: Call[][] = []
  let open = 0
  const { url, close } = await listen(async (request) => {
    const { pathname } = new URL(request.url)
    const body = await request.text()
    const call = {
      name: pathname.split('/').at(-1) ?? '',
      args: argsSchema.parse(JSON.parse(body)),
    }
    if (open === 0) groups.push([])
    groups.at(-1)?.push(call)
    open += 1
    try {
      const { method, headers } = request
      const answer = await fetch(`${gatewayUrl}${pathname}`, { method, headers, body })
      const plain = { 'content-type': answer.headers.get('content-type') ?? 'application/json' }
      return new Response(await answer.text(), { status: answer.status, headers: plain })
    } finally {
      open -= 1
    }
  })
  const take = () => {
    const taken = groups
    groups = []
    return taken
  }
  return { url, take, close }
}

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
