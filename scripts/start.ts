/**
 * Runs the product on this machine until Ctrl-C. It listens for signals before it loads anything heavy, so
 * that a start can be aborted at any moment and still ends cleanly.
 */
import { existsSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const help = `node scripts/start.ts [--port 8787] [--data .local] [--node] [--fast]
                            [--reset]

Starts everything on 127.0.0.1: PostgreSQL, two EVM chains (Base Sepolia's id 84532 on port 8545,
Arbitrum Sepolia's 421614 on port 8546), an x402 facilitator and merchant (port 8402), a mail server
(SMTP on port 1025, all mail to look at on port 8025), and every function under
http://127.0.0.1:<port>/<function>. Prints commands to try; Ctrl-C ends all of it.

--port   of the functions; 0 lets the system choose every port
--data   directory that keeps database, chains, secrets and world.json between runs
--node   runs the functions on Node as npm run serve does, and not in workers as an edge platform does
--fast   runs schedules every 5 seconds and not once a minute, so that payments are booked sooner
--reset  throws away what the directory keeps, then starts anew`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    port: { type: 'string', default: '8787' },
    data: { type: 'string', default: '.local' },
    node: { type: 'boolean', default: false },
    fast: { type: 'boolean', default: false },
    reset: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log(help)
} else {
  // Handles that a library left open must not keep a stopped world alive.
  process.exit(await run(values.port, resolve(values.data), values))
}

async function run(
  portText: string,
  directory: string,
  { node: isOnNode, fast, reset }: { node: boolean; fast: boolean; reset: boolean },
): Promise<number> {
  const port = Number(portText)
  if (!/^[0-9]{1,5}$/.test(portText) || port > 65_535) {
    console.error(`--port takes a number from 0 to 65535, not ${portText}`)
    return 2
  }
  const signal = stopSignal()
  const began = performance.now()
  const say = (line: string) =>
    console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s  ${line}`)
  try {
    if (reset) forget(directory)
    say('starting')
    const { openLocalWorld } = await import('./local/world.ts')
    const { walkthrough } = await import('./local/walkthrough.ts')
    const world = await openLocalWorld({
      port,
      directory,
      isOnNode,
      scheduleSeconds: fast ? 5 : undefined,
      signal,
      say,
    })
    say(`ready on ${world.url}\n\n${walkthrough(world)}\n\nCtrl-C stops everything.`)
    const why = await Promise.race([aborted(signal), world.lost])
    say('stopping')
    await world.stop()
    say('stopped')
    if (why === undefined) return 0
    console.error(why)
    return 1
  } catch (error) {
    // Ctrl-C reaches the children as well, so an aborted start may fail in many ways.
    if (signal.aborted) return 0
    console.error(error instanceof Error ? error.message : error)
    return 1
  }
}

/** Returns a signal that aborts on the first request to end; npm may send the same one again. */
function stopSignal(): AbortSignal {
  const stopping = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => stopping.abort())
  }
  return stopping.signal
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    // A timer keeps the process alive, which listening for signals alone does not.
    const timer = setInterval(() => {}, 60_000)
    const end = () => {
      clearInterval(timer)
      resolve(undefined)
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

/** Removes only what a local world makes, because the directory may hold other files. */
function forget(directory: string) {
  const made = ['postgres', 'postgres.new', 'functions', 'node', 'secrets.json', 'world.json']
  for (const name of [...made, 'chain-84532.json', 'chain-421614.json']) {
    const path = join(directory, name)
    if (existsSync(path)) rmSync(path, { recursive: true })
  }
}
