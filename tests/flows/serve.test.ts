/** `npm run serve` runs the product on one machine with its own secrets, and goes on after any end. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { type Facilitator, startFacilitator } from '../../scripts/local/chain/facilitator.ts'
import { callRpc } from '../../scripts/local/chain/rpc.ts'
import { type Chain, fund, startChain } from '../../scripts/local/chain.ts'
import { createApiKey } from '../../shared/auth/api-key.ts'
import { usdcOf } from '../support/ledger.ts'
import { textLike, textWith } from '../support/matching.ts'
import { randomBytes } from '../support/seed.ts'
import {
  callService,
  type Run,
  register,
  startProgram,
  serve as startService,
  startTimeoutMilliseconds,
} from '../support/serve.ts'

const directory = mkdtempSync(join(tmpdir(), 'aoa-serve-'))
const port = 20_000 + (process.pid % 10_000)
const base = `http://127.0.0.1:${port}`

function serve(...args: string[]): Promise<Run> {
  return startService('--port', `${port}`, '--data', directory, ...args)
}

const sandboxPayTo = `0x${'8'.repeat(40)}`

let chain: Chain
let facilitator: Facilitator
let run: Run
beforeAll(async () => {
  chain = await startChain({ chainId: 84532 })
  facilitator = await startFacilitator({ chains: [chain] })
  writeFileSync(
    join(directory, 'serve.toml'),
    `sandbox_pay_to = "${sandboxPayTo}"\nsandbox_facilitator_url = "${facilitator.url}"\n`,
  )
  run = await serve('--rpc', chain.rpcUrl)
}, 2 * startTimeoutMilliseconds)
afterAll(async () => {
  await run.end('SIGTERM')
  await facilitator.close()
  await chain.stop()
  rmSync(directory, { recursive: true, force: true })
})

function call(path: string, key: string, body?: object, headers?: Record<string, string>) {
  return callService(base, key, path, { body, headers })
}

const identitySchema = z.object({ wallets: z.tuple([z.object({ address: z.string() })]) })
const hex = z.templateLiteral(['0x', z.string()])
const payee = `0x${'7'.repeat(40)}`
const order = { recipient: payee, amount: '5', user_confirmed: true }
const sameWish = { 'idempotency-key': 'first-payment' }
let key = ''

test('the printed link opens an account whose agent pays on the chain', async () => {
  key = await register(run)
  const { body } = await call('/get-identity', key)
  const { address } = identitySchema.parse(body).wallets[0]
  const [relayer] = /0x[0-9a-fA-F]{40}$/m.exec(run.output()) ?? []
  await fund(chain, hex.parse(address), { usdcAtomic: 10_000_000n })
  await fund(chain, hex.parse(relayer), { weiAmount: 10n ** 18n })
  // A start looks at once at what relayers hold in final blocks, which a schedule does within a minute.
  await callRpc(chain.rpcUrl, [['anvil_mine', '0x80']])
  const exitCode = await run.end('SIGTERM')
  run = await serve('--rpc', chain.rpcUrl, '--smtp-port', `${port + 1}`, '--log-requests')

  const terms = { chain: 'base-sepolia', token: 'USDC', ...order }
  const pay = async () => (await call('/wallet-custodial-transfer', key, terms, sameWish)).body
  await expect.poll(pay).toMatchObject({ requires_user_confirm: false })
  const { transfer_id } = await pay()
  const status = { transfer_id, wait_seconds: 25 }
  const settled = await call('/transfer-status', key, status)

  expect(exitCode).toBe(0)
  expect(settled.body).toMatchObject({ status: 'settled', amount: '5' })
  expect(await usdcOf({ chain }, { address: payee })).toBe(5_000_000n)
})

test('a first purchase is made at its own sandbox, and at no other path of its own', async () => {
  const order = (path: string) => ({ resource_url: `${base}${path}` })

  const elsewhere = await call('/x402-payment-prepare', key, order('/get-identity'))
  const { body } = await call('/x402-payment-prepare', key, order('/sandbox/v2/report'))
  const asked = { attempt_id: body['attempt_id'], user_confirmed: true }
  const paid = await call('/x402-payment-execute', key, asked)

  expect(elsewhere).toMatchObject({ status: 422, body: { error: 'resource_refused' } })
  expect(paid.body).toMatchObject({ status: 'settled', response: { body_json: { paid: true } } })
  expect(await usdcOf({ chain }, { address: sandboxPayTo })).toBe(10_000n)
})

test('no second link is printed, and strangers are refused an account', async () => {
  const answer = await fetch(`${base}/request-signup-verification`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"email":"a@b.example"}',
  })

  expect(run.output()).not.toContain('/web/register/')
  expect([answer.status, await answer.json()]).toMatchObject([
    410,
    { error: 'registration_closed', message: textWith('invitation') },
  ])
})

test('a key that the database does not know is refused as such', async () => {
  const unknown = await call('/get-identity', createApiKey('live', randomBytes))

  expect(unknown).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
})

test('mail to the account comes in by SMTP', async () => {
  const mail = { from: 'ann@people.invalid', to: 'kestrel@agents.localhost', text: 'Hello' }

  await createTransport({ host: '127.0.0.1', port: port + 1 }).sendMail(mail)

  expect((await call('/mail-list', key)).body).toMatchObject({
    mails: [{ from: { address: 'ann@people.invalid', authenticated: false } }],
  })
})

test('its state is shown to whoever has the token, and a request is logged without what it said', async () => {
  const { STATUS_TOKEN: token = '' } = secretsIn('app.json')
  const shown = async (path: string, more = {}) => (await fetch(`${base}${path}`, more)).text()
  const allowed = { headers: { authorization: `Bearer ${token}` } }
  await call('/get-identity?note=private-words', key)

  const lines = run
    .output()
    .split('\n')
    .filter((line) => line.includes('"get-identity"'))

  expect(await shown('/health')).toBe('{"ok":true}')
  expect(await shown('/status')).toBe('')
  expect(await shown('/status', allowed)).toContain('"part":"mailer"')
  expect(await shown('/metrics', allowed)).toMatch(
    /^aoa_requests_total\{function="get-identity",status="400"\} 1$/m,
  )
  expect(Object.keys(z.looseObject({}).parse(JSON.parse(lines.at(-1) ?? '')))).toEqual([
    'at',
    'function',
    'method',
    'status',
    'seconds',
    'request_id',
  ])
  expect(run.output()).not.toContain('private-words')
})

test('custody and vault come back after a kill, and what was stored is still there', async () => {
  for (const folder of ['custody', 'vault']) {
    const pids = execFileSync('pgrep', ['-f', `child.mjs ${folder} ${directory}`]).toString()
    process.kill(Number(pids.trim()), 'SIGKILL')
  }

  await expect.poll(async () => (await call('/vault-generate', key, vaultEntry())).status).toBe(200)
})

let entries = 0
function vaultEntry() {
  entries += 1
  return { site: 'example.com', username: `user-${entries}` }
}

/** Returns the memory of a process and of all that it started, in MiB; a page that several share counts once. */
function mebibytesOf(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const own = Number(/^Pss: +(\d+) kB/m.exec(rollup)?.[1]) / 1024
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  const below = children.filter((child) => child !== '').map((child) => mebibytesOf(Number(child)))
  return below.reduce((sum, one) => sum + one, own)
}

test('all processes together take at most 350 MiB', () => {
  expect(mebibytesOf(run.pid)).toBeLessThanOrEqual(350)
})

const folder = join(directory, 'secrets')

function secretsIn(name: string): Record<string, string> {
  const text = readFileSync(join(folder, name), 'utf8')
  return z.record(z.string(), z.string()).parse(JSON.parse(text))
}

test('secrets are the owner’s alone, in no output and in no list of processes', () => {
  const files = readdirSync(folder)
  const secrets = files.flatMap((name) => Object.values(secretsIn(name)))
  const shown = `${run.output()}${execFileSync('ps', ['axeww']).toString()}`

  for (const name of files) expect(statSync(join(folder, name)).mode & 0o77).toBe(0)
  expect(secrets.length).toBeGreaterThan(12)
  for (const secret of secrets) {
    if (!secret.includes('"keys"')) expect(shown.includes(secret)).toBe(false)
  }
})

/** Runs a program of scripts/ and returns its output, or what it complains of. */
function program(name: string, ...args: string[]): string {
  const { DATABASE_URL: _, ...env } = process.env
  const file = fileURLToPath(new URL(`../../scripts/${name}.ts`, import.meta.url))
  const { stdout, stderr } = spawnSync(process.execPath, [file, ...args], { env })
  return `${stdout.toString()}${stderr.toString()}`
}

const rowsSchema = z.array(z.looseObject({}))

test('an operator sees accounts, relayers and payments, invites, and freezes an account', async () => {
  const operator = (...args: string[]) => program('operator', ...args, '--data', directory)

  const status = operator('status')
  const accounts = operator('accounts')
  const relayers = operator('relayers')
  const [lacking] = rowsSchema.parse(
    JSON.parse(operator('fund', '--transfers', '9999999', '--json')),
  )
  const funded = operator('fund', '--transfers', '1')
  const [newest] = rowsSchema.parse(JSON.parse(operator('payments', 'kestrel', '--json')))
  const invited = operator(
    'invite',
    'Ann@people.example',
    '--public-url',
    'https://account.example',
  )
  const frozen = [operator('freeze', 'kestrel'), operator('freeze', 'nobody')]
  const refused = await call('/wallet-custodial-transfer', key, { ...order, amount: '1' })

  expect(status).toMatch(/^accounts +1$/m)
  expect(accounts).toMatch(/^kestrel +0x[0-9a-fA-F]{40} +\d{4}-\d\d-\d\d +- +1$/m)
  expect(relayers).toMatch(/^base-sepolia +0x\w{40} +\d+ +- +[\d.]+$/m)
  expect(lacking).toMatchObject({ request: textLike(/^ethereum:0x\w{40}@84532\?value=\d+$/) })
  expect(funded).toBe('none\n')
  expect(newest).toMatchObject({ account: 'kestrel', amount: '0.01 USDC', chain: 'base-sepolia' })
  expect(invited).toMatch(/https:\/\/account\.example\/web\/register\/[\w-]{43}/)
  expect(frozen).toMatchObject([textWith('now'), textWith('there is no account nobody')])
  expect(refused).toMatchObject({ status: 403, body: { error: 'account_frozen' } })
})

test('a backup of the running service becomes another one, which no earlier key opens', async () => {
  const [restored, file] = [join(directory, 'restored'), join(directory, 'backup')]
  const phrase = ['--passphrase-file', join(directory, 'passphrase')]
  writeFileSync(join(directory, 'passphrase'), 'a passphrase of the tests only\n')

  const saved = program('backup', '--data', directory, '--out', file, ...phrase)
  const refused = program('restore', '--data', directory, '--from', file, ...phrase)
  await run.end('SIGTERM')
  const told = program('restore', '--data', restored, '--from', file, ...phrase)
  run = await serve('--data', restored, '--rpc', chain.rpcUrl)
  const { status } = await call('/get-identity', key)

  expect(saved).toContain('backed up')
  expect(refused).toContain('holds a service')
  expect(told).toContain('Nothing is signed until')
  expect(run.output()).not.toContain('/web/register/')
  expect(run.output()).toContain('Restored: nothing is signed on eip155:84532')
  expect(status).toBe(401)
  expect(statSync(file).mode & 0o77).toBe(0)
})

test('an upgrade ends the service, backs it up, and starts it with the flags that it had', async () => {
  const [restored, file] = [join(directory, 'restored'), join(directory, 'upgrade')]
  const phrase = ['--passphrase-file', join(directory, 'passphrase')]
  const asked = ['--data', restored, '--out', file, ...phrase, '--installed']

  const before = run
  run = await startProgram('upgrade', asked)
  const code = await before.exit
  const { status } = await call('/get-identity', key)

  expect(code).toBe(0)
  expect(run.output()).toMatch(/^the service was stopped\nbacked up to .*upgrade\n/)
  expect(status).toBe(401)
  expect(statSync(file).mode & 0o77).toBe(0)
  expect(await run.end('SIGTERM')).toBe(0)
  const again = program('upgrade', ...asked)
  expect(again).toContain('no service was running')
  run = await serve('--data', restored)
})
