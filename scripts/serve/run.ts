/** Starts the service, tells its operator what to do next, and ends it on a signal. */
import { performance } from 'node:perf_hooks'
import { createEndings } from '../local/endings.ts'
import { refuseDevelopment } from './development.ts'
import { type Service, startService } from './machine.ts'
import { nameRunning } from './running.ts'
import { folderIn } from './secrets.ts'
import { type Flags, readSettings, type Settings } from './settings.ts'

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
