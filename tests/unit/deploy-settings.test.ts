/** The settings of a deployment: what is taken, asked for, and refused with a sentence. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { askSettings } from '../../scripts/deploy/init.ts'
import { plannedWorkers } from '../../scripts/deploy/plan.ts'
import { readCredentials, readDeploySettings } from '../../scripts/deploy/settings.ts'
import { valuesFor } from '../../scripts/deploy/values.ts'
import { settingsText } from '../support/deploy/deployment.ts'

const folder = mkdtempSync(join(tmpdir(), 'aoa-deploy-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'deploy.toml')
const accountId = 'a'.repeat(32)
beforeEach(() => rmSync(file, { force: true }))

const read = (differs?: Record<string, string>) => {
  writeFileSync(file, settingsText(accountId, differs))
  return readDeploySettings(file)
}

test('what can be derived is derived, and chains are named by their CAIP-2 id', () => {
  expect(read()).toEqual({
    file,
    baseUrl: 'https://api.example.com',
    zone: 'example.com',
    accountId,
    mailDomain: 'agents.example.com',
    noticeDomain: 'notices.agents.example.com',
    mailUrl: 'https://mail.example/emails',
    project: 'abcdefghijklmnopqrst',
    name: 'aoa',
    workers: 'few',
    runsAtSupabase: false,
    turnstileSiteKey: '',
    eurUsdRate: '',
    rpc: { 'eip155:8453': ['https://one.example/key-of-one', 'https://two.example/key-of-two'] },
    vars: {},
  })
})

test('a worker gets each var of the settings in place of the usual one', async () => {
  const settings = read({ 'vars.WALLETCONNECT_PROJECT_ID': '"mine"', eur_usd_rate: '"1.08"' })

  const plans = await plannedWorkers(valuesFor(settings, {}, 'sb_publishable_x'), 'each')

  expect(plans.find(({ name }) => name === 'aoa-web')?.vars).toMatchObject({
    BASE_URL: 'https://api.example.com',
    WEB_URL: 'https://api.example.com/web',
    MAIL_DOMAIN: 'agents.example.com',
    SUPABASE_URL: 'https://abcdefghijklmnopqrst.supabase.co',
    SUPABASE_API_KEY: 'sb_publishable_x',
    WALLETCONNECT_PROJECT_ID: 'mine',
    EUR_USD_RATE: '1.08',
    WALLETCONNECT_RELAY_URL: 'wss://relay.walletconnect.org',
  })
})

test.each([
  ['base_url', '"http://api.example.com"', 'base_url has to be an origin'],
  ['base_url', '"https://api.example.com/path"', 'base_url has to be an origin'],
  ['base_url', '"https://api.example.com:8443"', 'base_url has to be an origin'],
  ['base_url', '"api.example.com"', 'base_url has to be an origin'],
  ['zone', '"other.example"', 'base_url https://api.example.com is not in the zone'],
  ['zone', '"ple.com"', 'base_url https://api.example.com is not in the zone'],
  ['account_id', '"mine"', 'account_id has to be the id of an account'],
  ['mail_domain', '"agents.other.example"', 'is not in the zone'],
  ['mail_domain', '"Agents.example.com"', 'mail_domain has to be a domain in lower case'],
  ['notice_domain', '"agents.example.com"', 'give notices one of their own'],
  ['mail_url', '"http://mail.example/emails"', 'mail_url is neither https: nor smtps:'],
  ['mail_url', '"mail.example"', 'mail_url has to be the address'],
  ['supabase_project', '"mine"', 'supabase_project has to be the reference'],
  ['name', '"aoa-test"', 'name has to be letters and digits'],
  ['workers', '"many"', 'workers has to be "few" or "each"'],
  ['eur_usd_rate', '"1,08"', 'eur_usd_rate has to be USD per EUR'],
  ['rpc.mars', '["https://one.example"]', 'there is no chain mars; use one of'],
  ['rpc.base', '["http://one.example/key"]', 'rpc of eip155:8453 has an endpoint'],
  ['vars.ALLOW_LOOPBACK', '"true"', 'vars has ALLOW_LOOPBACK, which is none of'],
  ['vars.GAS_USD_MAX', '5', 'vars.GAS_USD_MAX'],
  ['vars.GAS_USD_MAX', '"5"', 'vars.GAS_USD_MAX is not of the form'],
  ['vars.RETURN_URL_ORIGINS', '"https://a.example"', 'vars.RETURN_URL_ORIGINS is not of the form'],
  ['vars.YIELD_VAULTS', `'{"eip155:8453":{}}'`, 'vars.YIELD_VAULTS is not of the form'],
  ['vars.SANDBOX_PAY_TO', '"me"', 'vars.SANDBOX_PAY_TO is not of the form'],
  ['vars.WALLETCONNECT_RELAY_URL', '"relay"', 'vars.WALLETCONNECT_RELAY_URL is not of the form'],
  ['turnstile_site_key', '"a b"', 'turnstile_site_key is not one'],
  ['pubic_url', '"x"', 'pubic_url'],
])('%s = %s is refused with a sentence', (name, value, sentence) => {
  expect(() => read({ [name]: value })).toThrow(sentence)
  expect(() => read({ [name]: value })).not.toThrow('/key')
})

test('a file that is not TOML is told by its place, without its lines', () => {
  writeFileSync(file, `zone = "example.com"\nrpc.base = ["https://one.example/key"\nname = 1\n`)

  expect(() => readDeploySettings(file)).toThrow(
    new RegExp(`^${file} is not TOML at line [23], column [0-9]+$`),
  )
})

test('a file that does not exist is told with the command that makes it', () => {
  expect(() => readDeploySettings(file)).toThrow('npm run deploy -- --init')
})

test('at most ten questions make the file, which only its owner may read', async () => {
  const answers = ['https://api.example.com', '', accountId, '', '', 'abcdefghijklmnopqrst', 'base']
  const rest = ['https://one.example, https://two.example', '', '']
  const asked: string[] = []

  await askSettings(file, async (question) => {
    asked.push(question)
    return [...answers, ...rest][asked.length - 1] ?? ''
  })

  expect(asked).toHaveLength(10)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readDeploySettings(file)).toMatchObject({
    zone: 'example.com',
    mailDomain: 'agents.example.com',
    rpc: { 'eip155:8453': ['https://one.example', 'https://two.example'] },
  })
  await expect(askSettings(file, async () => '')).rejects.toThrow('exists')
})

test('an answer that cannot be used leaves no file', async () => {
  await expect(askSettings(file, async () => 'x')).rejects.toThrow(
    'nothing was written: base_url has to be an origin',
  )

  expect(() => readFileSync(file)).toThrow('ENOENT')
  expect(() => readFileSync(`${file}.new`)).toThrow('ENOENT')
})

test('secrets come from the environment, and only the missing ones are asked for', async () => {
  const asked: string[] = []
  const environment = { CLOUDFLARE_API_TOKEN: 'a', SUPABASE_ACCESS_TOKEN: 'b', MAIL_TOKEN: 'c' }
  const ask = async (name: string) => {
    asked.push(name)
    return `asked ${name}`
  }

  const credentials = await readCredentials(environment, read(), ask)

  expect(asked).toEqual(['DATABASE_URL'])
  expect(credentials).toEqual({
    cloudflareToken: 'a',
    supabaseToken: 'b',
    databaseUrl: 'asked DATABASE_URL',
    mailToken: 'c',
    turnstileSecret: 'none',
  })
  await readCredentials(environment, read({ turnstile_site_key: '"0x4AAA"' }), ask)
  expect(asked).toContain('TURNSTILE_SECRET_KEY')
})
