/** The program that serves the tools over standard input and output, built once and started as needed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import * as z from 'zod'
import { buildMcp } from '../../scripts/packages/package.ts'
import { atEnd } from './ending.ts'

export type Program = { file: string; folder: string }

/** Builds the package into a folder of its own. */
export async function buildProgram(): Promise<Program> {
  const folder = mkdtempSync(join(tmpdir(), 'aoa-mcp-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  await buildMcp(folder)
  return { file: join(folder, 'agent-operating-account-mcp.js'), folder }
}

export type Ended = { code: number | null; stdout: string; stderr: string }

function exitOf(child: ChildProcess): Promise<number | null> {
  return once(child, 'exit').then(([code]) => z.number().nullable().parse(code))
}

/** Runs the program with empty input. */
export async function run(
  { file }: Program,
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<Ended> {
  const child = spawn(process.execPath, [file, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = exitOf(child)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await ended, stdout, stderr }
}

const message = z.looseObject({ jsonrpc: z.literal('2.0') })

/** Sends these messages, waits until each request among them is answered, and ends the input. */
export async function converse(
  { file }: Program,
  env: NodeJS.ProcessEnv,
  messages: readonly (Record<string, unknown> | string)[],
): Promise<Ended & { answers: z.output<typeof message>[] }> {
  const child = spawn(process.execPath, [file], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = exitOf(child)
  const stderr = text(child.stderr)
  const awaited = new Set(
    messages.flatMap((one) => (typeof one === 'object' && 'id' in one ? [one['id']] : [])),
  )
  for (const one of messages)
    child.stdin.write(`${typeof one === 'string' ? one : JSON.stringify(one)}\n`)
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    awaited.delete(message.parse(JSON.parse(line))['id'])
    if (awaited.size === 0) child.stdin.end()
  }
  const code = await ended
  const answers = lines.map((line) => message.parse(JSON.parse(line)))
  return { code, stdout: lines.join('\n'), stderr: await stderr, answers }
}
