/** The settings of `npm run serve`: what is guessed, what is taken, and what is refused with a sentence. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readSettings } from '../../scripts/serve/settings.ts'

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

test('a key of serve.toml that does not exist is named', () => {
  writeFileSync(join(data, 'serve.toml'), 'pubic_url = "https://a.example"\n')

  expect(() => readSettings(flags)).toThrow('pubic_url')
})
