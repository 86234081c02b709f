/** The command line says what it takes, ends with a code for each kind of refusal, and writes what it must. */
import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { buildCli } from '../../scripts/packages/package.ts'
import { answering, serverThat } from '../support/http.ts'

const folder = mkdtempSync(join(tmpdir(), 'aoa-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
await buildCli(join(folder, 'package'))
const program = join(folder, 'package/aoa.js')
const home = join(folder, 'home')
mkdirSync(home)

const failed = z.object({ code: z.number(), stdout: z.string(), stderr: z.string() })

async function aoa(words: string[], more: Record<string, string> = {}) {
  const env = { HOME: home, PATH: process.env['PATH'], ...more }
  const running = promisify(execFile)(process.execPath, [program, ...words], { env, cwd: home })
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => failed.parse(error),
  )
}

test('it is one file of at most 300 KB', () => {
  expect(statSync(program).size).toBeLessThanOrEqual(300_000)
})

const names = ['login', 'logout', 'whoami', 'pay', 'wait', 'fetch', 'curl', 'balance', 'activity']
const others = ['freeze', 'mandate', 'call', 'mail', 'vault', 'connect', 'mcp', 'listen']

test('the help names every command, and each has its own with an example', async () => {
  const { stdout } = await aoa(['--help'])

  for (const name of [...names, ...others]) {
    expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    expect((await aoa([name, '--help'])).stdout).toContain(`aoa ${name}`)
  }
})

const keyed = { AOA_API_KEY: 'aoa_test_x', AOA_BASE_URL: 'http://127.0.0.1:9' }

test.each([
  ['an unknown command', ['paye'], {}, 2, 'there is no command paye'],
  ['an unknown option', ['balance', '--all'], {}, 2, 'see aoa balance --help'],
  ['a missing word', ['pay', 'shop'], keyed, 2, 'the amount is missing'],
  ['no login', ['balance'], {}, 3, 'run aoa login'],
  ['arguments that are not JSON', ['call', 'mail_list', '{'], keyed, 2, 'not JSON'],
  ['an operation that is none', ['call', 'send_money'], keyed, 2, 'there is no operation'],
  ['an address in plain text', ['login', 'http://account.example'], {}, 1, 'https://'],
  ['a service that is away', ['balance'], keyed, 6, 'network_error'],
  ['a payment whose answer was lost', ['pay', 'shop', '1'], keyed, 7, 'network_error'],
])('%s ends with its code and a sentence', async (_, words, env, code, sentence) => {
  const ended = await aoa(words, env)

  expect(ended.code).toBe(code)
  expect(ended.stderr).toContain(sentence)
})

test('connect adds the service once and keeps what is there', async () => {
  mkdirSync(join(home, '.cursor'))
  const file = join(home, '.cursor/mcp.json')
  writeFileSync(
    file,
    '{"theme": "dark", "mcpServers": {"other": {"url": "https://other.example"}}}',
  )
  const words = ['connect', 'cursor', 'https://account.example']

  await aoa(words)
  const after = readFileSync(file, 'utf8')
  await aoa(words)

  expect(JSON.parse(after)).toEqual({
    theme: 'dark',
    mcpServers: {
      other: { url: 'https://other.example' },
      account: { url: 'https://account.example/mcp' },
    },
  })
  expect(readFileSync(file, 'utf8')).toBe(after)
})

test('connect replaces no server of the same name, and writes to no file beside', async () => {
  mkdirSync(join(home, '.gemini'))
  const file = join(home, '.gemini/settings.json')
  const text = '{"mcpServers": {"account": {"command": "mine"}}}'
  writeFileSync(file, text)
  writeFileSync(join(home, 'precious'), 'mine')
  symlinkSync(join(home, 'precious'), `${file}.new`)

  const { code, stderr } = await aoa(['connect', 'gemini', 'https://account.example'])
  writeFileSync(file, '{}')
  await aoa(['connect', 'gemini', 'https://account.example'])

  expect(code).toBe(1)
  expect(stderr).toContain('remove it first')
  expect(readFileSync(file, 'utf8')).toContain('https://account.example/mcp')
  expect(readFileSync(join(home, 'precious'), 'utf8')).toBe('mine')
})

test('connect leaves a file with comments as it is, and says what to add', async () => {
  mkdirSync(join(home, '.vscode'))
  const file = join(home, '.vscode/mcp.json')
  const text = '{ // my servers\n  "servers": {} }'
  writeFileSync(file, text)

  const { code, stderr } = await aoa(['connect', 'vscode', 'https://account.example'])

  expect([code, readFileSync(file, 'utf8')]).toEqual([1, text])
  expect(stderr).toContain('"url": "https://account.example/mcp"')
})

test('connect adds a table to TOML behind what is there', async () => {
  mkdirSync(join(home, '.codex'))
  const file = join(home, '.codex/config.toml')
  writeFileSync(file, 'model = "any" # mine\n')

  await aoa(['connect', 'codex', 'https://account.example'])

  expect(readFileSync(file, 'utf8')).toBe(
    'model = "any" # mine\n\n[mcp_servers.account]\nurl = "https://account.example/mcp"\n',
  )
})

test('a reader that goes away ends it without a trace of the stack', async () => {
  const words = { text: 'x'.repeat(100_000) }
  const items = ['9', '8', '7', '6'].map((activity_id) => ({
    activity_id,
    at: '2026-01-01T00:00:00.000Z',
    category: 'account',
    type: 'noted',
    summary: 'It happened.',
    untrusted: words,
  }))
  const page = JSON.stringify({ items, next_cursor: null })
  const { url } = await serverThat(answering(200, { 'content-type': 'application/json' }, page))
  const line = '"$0" "$1" listen --json --once --since 2026-01-01 | head -c 10'
  const env = { HOME: home, PATH: process.env['PATH'], ...keyed, AOA_BASE_URL: url }

  const read = await promisify(execFile)('sh', ['-c', line, process.execPath, program], { env })

  expect(read.stdout).toBe('{"id":"6",')
  expect(read.stderr).toMatch(/^(write EPIPE\n)?$/)
})
