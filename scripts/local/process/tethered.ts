/**
 * Starts a child process that cannot outlive this one. A small shell holds the read end of a pipe. When the
 * write end closes, for whatever reason (stop, crash, SIGKILL), the shell ends the child.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

const stopTimeoutMilliseconds = 8_000
const outputCharactersMax = 64_000

// The child gets SIGTERM, so it can still write its state. `read` returns only when the pipe closes.
const watcher = `
"$@" 3<&- & child=$!
( read -r _ <&3; kill "$child" ) 2>/dev/null & watch=$!
wait "$child"; code=$?
kill "$watch" 2>/dev/null
exit "$code"`

/** A process that ends with this one. */
export type Tethered = {
  /** Resolves with the text that matched. Rejects with the last output if the process ends before. */
  waitForOutput: (pattern: RegExp, timeoutMilliseconds: number) => Promise<RegExpExecArray>
  /** Ends the process and waits until it is gone. A second call does nothing more. */
  stop: () => Promise<void>
  /** Resolves when the process is gone, however it ended. */
  ended: Promise<void>
}

/** Runs `command` with `args`. Its output is read for start-up messages and then thrown away. */
export function spawnTethered(command: string, args: readonly string[]): Tethered {
  const child = spawn('/bin/sh', ['-c', watcher, 'tether', command, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  const { stdio } = child
  const leash = stdio[3]
  if (!leash || !('end' in leash)) throw new Error('the pipe to the watcher is missing')
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  // A failing write on the leash means that the watcher is gone, which `exited` already reports.
  leash.on('error', () => {})
  return {
    waitForOutput: (pattern, timeoutMilliseconds) => waitFor(child, pattern, timeoutMilliseconds),
    stop: () => stop(child, leash, exited),
    ended: exited,
  }
}

function waitFor(child: ChildProcess, pattern: RegExp, timeoutMilliseconds: number) {
  return new Promise<RegExpExecArray>((resolve, reject) => {
    let output = ''
    const settle = (finish: () => void) => {
      clearTimeout(timer)
      for (const stream of outputs(child)) {
        stream.removeListener('data', read)
        stream.resume()
      }
      child.removeListener('exit', ended)
      finish()
    }
    const read = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-outputCharactersMax)
      const match = pattern.exec(output)
      if (match) settle(() => resolve(match))
    }
    const ended = () => settle(() => reject(new Error(output.trim().slice(-500) || 'no output')))
    const timer = setTimeout(
      () => settle(() => reject(new Error(`not ready after ${timeoutMilliseconds} ms`))),
      timeoutMilliseconds,
    )
    for (const stream of outputs(child)) stream.on('data', read)
    child.once('exit', ended)
  })
}

async function stop(child: ChildProcess, leash: Writable | Readable, exited: Promise<void>) {
  leash.destroy()
  const group = child.pid
  // The watcher leads its own process group, so SIGKILL to the group reaches a stuck child too.
  const timer = setTimeout(() => group && process.kill(-group, 'SIGKILL'), stopTimeoutMilliseconds)
  await exited
  clearTimeout(timer)
}

function outputs(child: ChildProcess): Readable[] {
  return [child.stdout, child.stderr].filter((stream) => stream !== null)
}
