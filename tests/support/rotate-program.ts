/** Runs `npm run rotate-keys` as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'

const script = fileURLToPath(new URL('../../scripts/rotate-keys.ts', import.meta.url))

export type Run = { code: number | null; output: string }

/** Runs the program to its end with these settings instead of this process's. */
export async function runRotation(
  args: readonly string[],
  bindings: Readonly<Record<string, string>> = {},
  started: (child: ChildProcess) => void = () => {},
): Promise<Run> {
  const { SUPABASE_URL: _, ...env } = process.env
  const child = spawn(process.execPath, [script, ...args], { env: { ...env, ...bindings } })
  started(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const [code] = z.tuple([z.number().nullable(), z.unknown()]).parse(await once(child, 'close'))
  return { code, output }
}
