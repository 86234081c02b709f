/** A machine without a browser logs in by a code, and buys with one approval of the owner in any browser. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { buildCli } from '../../scripts/packages/package.ts'
import { openScene } from '../support/browser/browser.ts'
import { press } from '../support/browser/people.ts'
import { textWith } from '../support/matching.ts'

const scene = await openScene()
const { facts } = scene
const folder = mkdtempSync(join(tmpdir(), 'aoa-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
await buildCli(join(folder, 'package'))
const program = join(folder, 'package/aoa.js')
const env = { HOME: join(folder, 'home'), PATH: process.env['PATH'] }

async function aoa(...words: string[]) {
  const run = promisify(execFile)(process.execPath, [program, ...words], { env })
  const { stdout } = await run
  return stdout
}

test('from an empty home to the first paid request in two commands and one approval', async () => {
  const { page } = await scene.owner()
  const login = spawn(process.execPath, [program, 'login', facts.base_url], { env })
  const ended = once(login, 'exit')
  const told = new Map<string, string>()
  for await (const line of createInterface({ input: login.stderr })) {
    const [, name = '', value = ''] = /^(Open|and enter|It has to show) +(.+)$/.exec(line) ?? []
    told.set(name, value)
    if (line.startsWith('Waiting')) break
  }

  await page.goto(told.get('Open') ?? '')
  await page.getByLabel('Code').fill((told.get('and enter') ?? '').toLowerCase())
  await press(page, 'Continue')
  await page.getByText(told.get('It has to show') ?? '', { exact: true }).waitFor()
  await page.getByLabel('View, use stored secrets and pay').check()
  await press(page, 'Allow')
  await page.getByRole('heading', { name: 'The program is connected' }).waitFor()
  const [code] = z.tuple([z.number(), z.null()]).parse(await ended)
  const bought = await aoa('fetch', facts.merchant.v2_url, '--max-usd', '0.50', '--yes')
  const me: unknown = JSON.parse(await aoa('whoami', '--json'))

  expect(code).toBe(0)
  expect(JSON.parse(bought)).toBeTypeOf('object')
  expect(me).toMatchObject({ alias: facts.owner.alias, credential: { scopes: ['pay'] } })
  expect(statSync(join(env.HOME, '.config/aoa/session.json')).mode & 0o777).toBe(0o600)
})

test('after a logout the login is over at the service, and the program says what to do', async () => {
  await aoa('logout')

  const failed = await aoa('balance').catch((error: unknown) => error)

  expect(failed).toMatchObject({ code: 3, stderr: textWith('aoa login') })
})
