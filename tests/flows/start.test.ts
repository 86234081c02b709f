import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { startPostgres } from '../../scripts/local/postgres.ts'

const script = fileURLToPath(new URL('../../scripts/start.ts', import.meta.url))
const curlScript = fileURLToPath(new URL('../support/curl.ts', import.meta.url))
/** Shell line that defines curl on a machine without it. */
const curl = `command -v curl >/dev/null || curl() { '${process.execPath}' '${curlScript}' "$@"; }`
const directory = mkdtempSync(join(tmpdir(), 'aoa-start-'))
const worldFile = join(directory, 'world.json')
/** Host of the functions, as the project of vitest.config.ts names it. */
const hostFlags = process.env['HOST'] === 'node' ? ['--node'] : []
/** Timeout of a start, four times what an idle system needs, so that only a hang fails. */
const startTimeoutMilliseconds = 90_000

const worldSchema = z.object({
  base_url: z.url(),
  api_keys: z.object({ read: z.string(), pay: z.string(), full: z.string() }),
  chains: z.array(z.object({ id: z.int(), rpc_url: z.url(), usdc: z.string() })),
  merchant: z.object({ v1_url: z.url(), v2_url: z.url() }),
  mail: z.object({ smtp_url: z.url(), outbox_url: z.url() }),
})

type Run = { child: ChildProcess; output: () => string; exit: Promise<number | null> }

/** Starts the program in a process group of its own, as a terminal would. */
function run(port: number): Run {
  const { DATABASE_URL: _, ...env } = process.env
  const flags = ['--port', `${port}`, '--data', directory, ...hostFlags]
  const child = spawn(process.execPath, [script, ...flags], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const exit = once(child, 'exit').then(([code]) => z.number().nullable().parse(code))
  return { child, output: () => output, exit }
}

async function until(run: Run, isReached: () => boolean): Promise<void> {
  const look = () => {
    if (isReached()) return true
    if (run.child.exitCode !== null) throw new Error(`it ended at once:\n${run.output()}`)
    return false
  }
  await vi.waitUntil(look, { timeout: startTimeoutMilliseconds, interval: 20 })
}

/** Sends SIGINT to the whole process group, as a terminal does on Ctrl-C. */
async function interrupt({ child, exit }: Run): Promise<number | null> {
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
  return exit
}

/** Returns the processes of this world, except zombies (proc(5), Linux). */
function processes({ child }: Run): string[] {
  const numbers = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))
  return numbers.flatMap((number) => {
    const { group, state, args } = readProcess(number)
    const isOurs = group === child.pid || args.includes(directory)
    return isOurs && state !== 'Z' ? [`${number} ${args}`] : []
  })
}

/** Reads a process. One that ended meanwhile is a zombie. */
function readProcess(number: string) {
  try {
    const stat = readFileSync(`/proc/${number}/stat`, 'utf8')
    const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const args = readFileSync(`/proc/${number}/cmdline`, 'utf8').replaceAll('\0', ' ')
    return { state, group: Number(group), args }
  } catch {
    return { state: 'Z', group: 0, args: '' }
  }
}

function readWorld() {
  return worldSchema.parse(JSON.parse(readFileSync(worldFile, 'utf8')))
}

async function get(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(new URL(path, readWorld().base_url), { headers })
  return { status: answer.status, body: z.looseObject({}).parse(await answer.json()) }
}

let first: Run
beforeAll(async () => {
  first = run(0)
  await until(first, () => existsSync(worldFile))
})
afterAll(async () => {
  if (first.child.exitCode === null && !first.child.killed) await interrupt(first)
  rmSync(directory, { recursive: true, force: true })
})

test('every key of the demo owner opens the account', async () => {
  const { api_keys: keys } = readWorld()

  const answers = await Promise.all(
    Object.values(keys).map((key) => get('/get-identity', { authorization: `Bearer ${key}` })),
  )

  const demo = { status: 200, body: { alias: 'demo' } }
  expect(answers).toMatchObject([demo, demo, demo])
})

test('a path with a version is answered with the right form', async () => {
  const answer = await get('/v1/get-identity')

  expect(answer).toMatchObject({ status: 404, body: { error: 'not_found' } })
  expect(answer.body['hint']).toContain('{base_url}/get-identity')
})

test.each([
  '/custody',
  '/housekeeping',
  '/egress',
  '/router',
  '/cdn-cgi/local/scheduled',
  '/cdn-cgi/platform-proxy',
  '/cdn-cgi/local/explorer',
])('%s is no way into what has no route', async (path) => {
  const plain = await get(path)
  const steered = await get(path, { 'MF-Route-Override': 'aoa-custody', 'MF-Op': 'GET' })

  expect([plain, steered]).toMatchObject([{ body: { error: 'not_found' } }, { status: 404 }])
  expect(plain.status).toBe(404)
})

test('a request cannot choose another function by a header', async () => {
  const answer = await get('/get-identity', { 'MF-Route-Override': 'aoa-not-found' })

  expect(answer).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
})

test('a GET with a body in chunks is answered as one without', async () => {
  const { base_url, api_keys } = readWorld()
  const headers = { authorization: `Bearer ${api_keys.read}`, 'transfer-encoding': 'chunked' }
  const asked = request(new URL('/get-identity', base_url), { headers })

  asked.end('anything')

  const [{ statusCode }] = z
    .tuple([z.looseObject({ statusCode: z.int() })])
    .parse(await once(asked, 'response'))
  expect(statusCode).toBe(200)
})

test('the printed commands work as they are, up to a settled purchase', async () => {
  await until(first, () => first.output().includes('Ctrl-C stops'))
  const [, commands = ''] = /\n(export [\s\S]*)\n\nCtrl-C/.exec(first.output()) ?? []

  const options = { encoding: 'utf8', timeout: 30_000 } as const
  const printed = execFileSync('sh', ['-e', '-c', `${curl}\n${commands}`], options)

  expect(printed).toContain('"alias":"demo"')
  expect(printed).toContain('"consent_level":"agent_asserted"')
  expect(printed).toContain('"status":"settled"')
  expect(printed).not.toContain('"error"')
})

test('what holds secrets can be read by its owner alone', () => {
  const modes = ['secrets.json', 'world.json'].map((name) => statSync(join(directory, name)).mode)

  expect(modes.map((mode) => mode & 0o777)).toEqual([0o600, 0o600])
})

test('Ctrl-C ends everything, and the next start finds its accounts and money again', async () => {
  const before = readWorld()

  expect(await interrupt(first)).toBe(0)
  expect(first.output()).toMatch(/ s {2}stopped\n$/)
  await expect.poll(() => processes(first)).toEqual([])
  expect(existsSync(worldFile)).toBe(false)

  first = run(0)
  await until(first, () => existsSync(worldFile))
  expect(readWorld().api_keys).toEqual(before.api_keys)
  expect(first.output()).not.toContain('minted')
  expect(first.output()).not.toContain('older than the database')
  const answer = await get('/get-identity', { authorization: `Bearer ${before.api_keys.read}` })
  expect(answer.status).toBe(200)
})

/** Kills PostgreSQL, as the operating system does to a server that takes too much memory. */
function killPostgres() {
  const [postmaster] = readFileSync(join(directory, 'postgres/postmaster.pid'), 'utf8').split('\n')
  process.kill(Number(postmaster), 'SIGKILL')
}

test('a PostgreSQL that is killed is back with its data, and the world goes on', async () => {
  const { read } = readWorld().api_keys
  killPostgres()
  await until(first, () => first.output().includes('PostgreSQL had ended and was started again'))

  // An old connection is found dead when it is used next.
  await expect
    .poll(() => get('/get-identity', { authorization: `Bearer ${read}` }))
    .toMatchObject({ status: 200, body: { alias: 'demo' } })
})

test('a PostgreSQL that does not come back ends the world clean, in one sentence', async () => {
  const control = join(directory, 'postgres/global/pg_control')
  const before = first.output().length
  renameSync(control, `${control}.kept`)
  killPostgres()

  const code = await first.exit

  renameSync(`${control}.kept`, control)
  const lines = first.output().slice(before).trim().split('\n')
  expect(code).toBe(1)
  // On Node, functions write their own lines as they come.
  const others = hostFlags.length > 0 ? /^ *[0-9.]+ s |^\{/ : /^ *[0-9.]+ s /
  expect(lines.filter((line) => !others.test(line))).toEqual([
    'PostgreSQL ended, and did not last when it was started again.',
  ])
  await expect.poll(() => processes(first)).toEqual([])
  expect(existsSync(worldFile)).toBe(false)
})

test('a world that is killed takes everything with it', async () => {
  first = run(0)
  await until(first, () => existsSync(worldFile))
  first.child.kill('SIGKILL')
  await first.exit

  await expect.poll(() => processes(first)).toEqual([])
})

test('wallets whose custody root was lost are not opened under a new one', async () => {
  const secrets = join(directory, 'secrets.json')
  renameSync(secrets, `${secrets}.kept`)

  const refused = run(0)

  expect(await refused.exit).toBe(1)
  expect(refused.output()).toContain('secrets.json was lost')
  expect(existsSync(secrets)).toBe(false)
  renameSync(`${secrets}.kept`, secrets)
})

test('a start that is broken off ends clean', async () => {
  const broken = run(0)
  await until(broken, () => broken.output().includes('database ready'))

  expect(await interrupt(broken)).toBe(0)
  expect(processes(broken)).toEqual([])
  expect(existsSync(worldFile)).toBe(false)
})

test('a taken port is named with what to do, and nothing is left behind', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = z.object({ port: z.int() }).parse(holder.address())

  const refused = run(port)

  expect(await refused.exit).toBe(1)
  expect(refused.output()).toContain(`port ${port} is taken`)
  expect(refused.output()).toContain('--port 0')
  expect(processes(refused)).toEqual([])
  holder.close()
})

test('a database of another version is refused, with what to do', async () => {
  const server = await startPostgres({ directory: join(directory, 'postgres') })
  const sql = postgres(server.url, { max: 1 })
  await sql`update supabase_migrations.schema_migrations set statements = '{another text}'`
  await sql.end()
  await server.stop()

  const refused = run(0)

  expect(await refused.exit).toBe(1)
  expect(refused.output()).toContain('begin anew with npm start -- --reset')
})
