/** Starts the service, tells its operator what to do next, and ends it on a signal. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import * as z from 'zod'
import { createEndings } from '../local/process/endings.ts'
import { writePrivate } from '../local/secrets.ts'
import { type Service, startService } from './machine.ts'
import { refuseDevelopment } from './program.ts'
import { type Flags, folderIn, readSettings, type Settings } from './settings.ts'

/** Runs until a signal, or until the database is lost. Returns the exit code. */
export async function run(flags: Flags): Promise<number> {
  const settings = readSettings(flags)
  refuseDevelopment(settings, process.env)
  const stopping = new AbortController()
  let reload: (() => void) | undefined
  const asked = new Promise<undefined>((resolve) => {
    const stop = () => {
      stopping.abort()
      resolve(undefined)
    }
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop)
    // Without a certificate it is a terminal that was closed.
    process.on('SIGHUP', () => (settings.tls ? reload?.() : stop()))
  })
  const began = performance.now()
  const say = (line: string) =>
    console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s  ${line}`)
  const endings = createEndings(stopping.signal)
  try {
    say('starting')
    const service = await startService({ settings, endings, signal: stopping.signal, say })
    reload = service.reload
    await endings.keep(Promise.resolve(nameRunning(settings.directory)), async (unname) => unname())
    say(`ready on ${settings.baseUrl}\n\n${nextSteps(settings, service)}\n`)
    const why = await Promise.race([asked, service.lost])
    say('stopping')
    if (why !== undefined) console.error(why)
    return why === undefined ? 0 : 1
  } catch (error) {
    if (stopping.signal.aborted) return 0
    throw error
  } finally {
    await endings.endAll()
    say('stopped')
  }
}

/** Says what the operator does now: back up, open the account, connect an agent, give gas. */
function nextSteps(
  settings: Settings,
  { isFirst, registration, relayers, behind }: Service,
): string {
  const { baseUrl, webUrl, directory, rpc } = settings
  const steps = [
    isFirst && `Back up ${folderIn(directory)}: whoever loses it loses all wallets and logins.`,
    registration !== undefined &&
      `Open your account within 30 minutes:\n  ${webUrl}/register/${registration}`,
    `Connect an agent, which signs in by itself:\n  claude mcp add --transport http account ${baseUrl}/mcp`,
    Object.keys(rpc).length === 0 &&
      'No chain is connected, so nothing can be paid yet: give --rpc with an endpoint.',
    behind.length > 0 &&
      `Restored: nothing is signed on ${behind.join(', ')} until all payments since the backup were read.`,
    ...relayers.map(({ chain, address }) => `Send gas to the relayer of ${chain}: ${address}`),
  ]
  return steps.filter((step) => step !== false).join('\n\n')
}

const lookMilliseconds = 100
/** Longer than a service gives its last requests and its parts to end. */
const stopTimeoutMilliseconds = 60_000

const schema = z.object({ pid: z.int().positive(), flags: z.array(z.string()) })
/** A process that serves a data folder. */
export type Running = z.output<typeof schema>

/** Names this process. The answer removes the name. */
function nameRunning(directory: string): () => void {
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
