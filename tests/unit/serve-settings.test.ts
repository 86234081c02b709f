/** The settings of `npm run serve`: what is guessed, what is taken, and what is refused with a sentence. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { refuseDevelopment } from '../../scripts/serve/program.ts'
import { readSettings } from '../../scripts/serve/settings.ts'
import { readConfig } from '../../shared/env.ts'

const data = mkdtempSync(join(tmpdir(), 'aoa-settings-'))
afterAll(() => rmSync(data, { recursive: true }))
const flags = { port: '8787', data, signup: 'closed' }

test('without flags and without a file the service is this machine’s own', () => {
  expect(readSettings(flags)).toMatchObject({
    baseUrl: 'http://127.0.0.1:8787',
    webUrl: 'http://localhost:8787/web',
    mailDomain: 'agents.localhost',
    mail: undefined,
    rpc: {},
    isBehindProxy: false,
    signup: 'closed',
  })
})

test('flags win over the file, and endpoints of one chain are kept in their order', () => {
  writeFileSync(
    join(data, 'serve.toml'),
    `public_url = "https://file.example"
mail_url = "smtps://user@mail.example"
mail_token = "secret"
[rpc]
base = ["https://one.example", "https://two.example"]
`,
  )

  const settings = readSettings({
    ...flags,
    'public-url': 'https://account.example',
    rpc: ['https://sepolia.example', 'eip155:84532=https://other.example'],
  })

  expect(settings).toMatchObject({
    baseUrl: 'https://account.example',
    webUrl: 'https://account.example/web',
    mailDomain: 'account.example',
    noticeDomain: 'notices.account.example',
    mail: { url: 'smtps://user@mail.example', token: 'secret' },
    rpc: {
      'eip155:8453': ['https://one.example', 'https://two.example'],
      'eip155:84532': ['https://sepolia.example', 'https://other.example'],
    },
  })
  rmSync(join(data, 'serve.toml'))
})

test.each([
  [{ port: '80a' }, '--port takes a number'],
  [{ port: '0' }, '--port takes a number'],
  [{ rpc: ['sepolia.example'] }, '--rpc takes [chain=]url'],
  [{ rpc: ['mars=https://a.example'] }, 'there is no chain mars; use one of ethereum, base'],
  [{ 'public-url': 'https://a.example/path' }, '--public-url takes an origin'],
  [{ 'smtp-port': 'x' }, '--smtp-port takes a number'],
  [{ 'tls-cert': 'a.pem' }, '--tls-cert and --tls-key belong together'],
  [{ signup: 'maybe' }, '--signup takes open, invited or closed'],
])('%j is refused with a sentence', (wrong, sentence) => {
  expect(() => readSettings({ ...flags, ...wrong })).toThrow(sentence)
})

test.each([
  ['mail_url = "smtps://user@mail.example"', 'mail_url and mail_token belong together'],
  ['turnstile_site_key = "0x4AAAAAAA"', 'turnstile_secret_key belong together'],
  ['turnstile_secret_key = "0x4AAAAAAA"', 'turnstile_secret_key belong together'],
  ['alarm_mail = "ann@people.example"', 'alarm_mail needs mail_url'],
  ['alarm_mail = "ann"', 'alarm_mail'],
  ['sandbox_pay_to = "me"', 'sandbox_pay_to has to be an address'],
])('serve.toml with %s is refused', (line, sentence) => {
  writeFileSync(join(data, 'serve.toml'), line)

  expect(() => readSettings(flags)).toThrow(sentence)
  rmSync(join(data, 'serve.toml'))
})

test('a key of serve.toml that does not exist is named', () => {
  writeFileSync(join(data, 'serve.toml'), 'pubic_url = "https://a.example"\n')

  expect(() => readSettings(flags)).toThrow('pubic_url')
  rmSync(join(data, 'serve.toml'))
})

test('values of a development machine are refused, and each is named', () => {
  const settings = {
    ...readSettings({ ...flags, 'public-url': 'http://account.example' }),
    mailDomain: 'agents.example',
    mail: { url: 'smtp://127.0.0.1:1025', token: 'none' },
  }
  writeFileSync(join(data, 'world.json'), '{}')
  const environment = { ALLOW_LOOPBACK: 'true', NODE_TLS_REJECT_UNAUTHORIZED: '0' }

  const refused = () => refuseDevelopment(settings, environment)

  const named = ['local world, whose keys', 'public_url is http://account.example', 'mail_url']
  for (const name of [...named, 'mail_domain agents.example', ...Object.keys(environment)]) {
    expect(refused).toThrow(name)
  }
  rmSync(join(data, 'world.json'))
})

test('a service of its own machine, and one with https and a provider, are no development', () => {
  const own = readSettings(flags)
  const mail = { url: 'https://mail.example/emails', token: 'secret' }
  const named = { ...readSettings({ ...flags, 'public-url': 'https://account.example' }), mail }

  for (const settings of [own, named]) refuseDevelopment(settings, {})
})

test.each([
  [{ ALLOW_LOOPBACK: 'true' }, false],
  [{ BASE_URL: 'http://account.example' }, false],
  [{ WEB_URL: 'http://account.example/web' }, false],
  [{ BASE_URL: 'http://127.0.0.1:8787', WEB_URL: 'http://localhost:8787/web' }, true],
])('functions outside the local world with %j start: %s', (differs, starts) => {
  const names = {
    BASE_URL: 'https://account.example',
    WEB_URL: 'https://account.example/web',
    MAIL_DOMAIN: 'agents.account.example',
  }
  const read = (ENVIRONMENT: string) => () => readConfig({ ...names, ...differs, ENVIRONMENT })

  if (starts) expect(read('production')).not.toThrow()
  else expect(read('production')).toThrow('ENVIRONMENT=local')
  expect(read('local')).not.toThrow()
})
