/** `npm run deploy` as a program: help, and one sentence for whatever stops it before it asks anybody. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { root } from '../../scripts/packages/package.ts'
import { settingsText } from '../support/deploy/deployment.ts'

const folder = mkdtempSync(join(tmpdir(), 'aoa-program-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'deploy.toml')
const credentials = {
  CLOUDFLARE_API_TOKEN: 'hidden-one',
  SUPABASE_ACCESS_TOKEN: 'hidden-two',
  DATABASE_URL: 'postgres://user:hidden-three@db.example:5432/postgres?sslmode=require',
  MAIL_TOKEN: 'hidden-four',
}

async function run(args: string[], environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['scripts/deploy.ts', '--settings', file, ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await ended, out, error: error.trim() }
}

test('help names each option and secret', async () => {
  const { code, out } = await run(['--help'])

  expect(code).toBe(0)
  const flags = ['--init', '--check', '--plan', '--rollback', '--escrowed', '--target', '--secrets']
  for (const word of [...flags, ...Object.keys(credentials)]) {
    expect(out).toContain(word)
  }
})

test('without settings it names the command that asks for them', async () => {
  rmSync(file, { force: true })

  const { code, error } = await run([])

  expect([code, error]).toEqual([1, expect.stringContaining('npm run deploy -- --init')])
})

test('a rollback needs one token, and says if there is nothing to bring back', async () => {
  writeFileSync(file, settingsText('a'.repeat(32)))

  const { code, out } = await run(['--rollback'], { CLOUDFLARE_API_TOKEN: 'hidden-one' })

  expect([code, out]).toEqual([0, expect.stringMatching(/^nothing to roll back: /)])
})

test('a wrong setting, a missing secret and a short passphrase are one sentence each', async () => {
  const short = join(folder, 'short')
  writeFileSync(short, 'too short\n')
  writeFileSync(file, settingsText('none'))
  const setting = await run([])
  writeFileSync(file, settingsText('a'.repeat(32)))
  const secret = await run(['--check'], { ...credentials, MAIL_TOKEN: '' })
  const passphrase = await run(['--passphrase-file', short], credentials)
  writeFileSync(short, 'eleven char\r\n')
  const ended = await run(['--passphrase-file', short], credentials)
  const missing = await run([], credentials)
  const unattended = await run(['--init'])

  expect([setting, secret, passphrase, ended, missing, unattended].map(({ code }) => code)).toEqual(
    [1, 1, 1, 1, 1, 1],
  )
  expect(setting.error).toBe(
    `${file}: account_id has to be the id of an account of Cloudflare, 32 hexadecimal digits`,
  )
  expect(secret.error).toBe('MAIL_TOKEN is missing: set MAIL_TOKEN in the environment')
  expect(passphrase.error).toBe('the passphrase has to have 12 characters or more')
  expect(ended.error, 'the end of the line counts for nothing').toBe(passphrase.error)
  expect(missing.error).toBe('The passphrase of the secrets is missing: give --passphrase-file')
  expect(unattended.error).toBe('--init asks at a terminal, and this is none')
})

test('what would run at Supabase is said without a secret, and only if the settings name it', async () => {
  writeFileSync(file, settingsText('a'.repeat(32)))
  const unnamed = await run(['--target', 'supabase', '--plan'])
  writeFileSync(file, settingsText('a'.repeat(32), { supabase_functions: 'true' }))
  const planned = await run(['--target', 'supabase', '--plan'])
  const secrets = await run(['--target', 'supabase', '--secrets'])

  expect([unnamed.code, unnamed.out]).toEqual([1, ''])
  expect(unnamed.error).toContain('set supabase_functions = true')
  expect(planned).toMatchObject({ code: 0, error: '' })
  expect(planned.out).toMatch(/^would write [0-9]+ functions into dist\/supabase:$/m)
  expect([secrets.out, secrets.error]).toEqual([
    '',
    'The passphrase of the secrets is missing: give --passphrase-file',
  ])
})
