/** The account on the command line. */
import { setTimeout as pause } from 'node:timers/promises'
import { run } from './cli/run.ts'

const ending = new AbortController()
process.once('SIGINT', () => ending.abort(new Error('stopped')))
// A reader that goes away, such as head, ends the program; without a listener, Node prints a trace.
process.stdout.on('error', (error) => ending.abort(error))
const { signal } = ending

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  fetch: globalThis.fetch,
  now: Date.now,
  pause: (milliseconds) => pause(milliseconds, undefined, { signal }),
  signal,
})
