/** The file in a data folder which names the process that serves it, and the flags that it was started with. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { writePrivate } from '../local/secrets.ts'

const lookMilliseconds = 100
/** Longer than a service gives its last requests and its parts to end. */
const stopTimeoutMilliseconds = 60_000

const schema = z.object({ pid: z.int().positive(), flags: z.array(z.string()) })
/** A process that serves a data folder. */
export type Running = z.output<typeof schema>

/** Names this process. The answer removes the name. */
export function nameRunning(directory: string): () => void {
  writePrivate(fileIn(directory), { pid: process.pid, flags: process.argv.slice(2) })
  return () => rmSync(fileIn(directory), { force: true })
}

/** Ends the process that serves a folder. Returns it, or undefined if there was none. */
export async function stopRunning(directory: string): Promise<Running | undefined> {
  if (!existsSync(fileIn(directory))) return undefined
  const running = schema.parse(JSON.parse(readFileSync(fileIn(directory), 'utf8')))
  const { pid } = running
  if (!isServing(pid)) return undefined
  process.kill(pid, 'SIGTERM')
  const until = performance.now() + stopTimeoutMilliseconds
  while (isServing(pid)) {
    if (performance.now() > until) throw new Error(`process ${pid} does not end`)
    await pause(lookMilliseconds)
  }
  return running
}

/** Returns true if the process lives. Another may have its number after a kill. */
function isServing(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !existsSync('/proc') || readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('serve.ts')
  } catch {
    return false
  }
}

function fileIn(directory: string): string {
  return join(directory, 'serve.json')
}
