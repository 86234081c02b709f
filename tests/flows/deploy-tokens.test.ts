/** The tokens of a deployment: the project of the fake takes over the key, and the database accepts what it signs. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import {
  exposedSchemas,
  publishableKey,
  type SupabaseProject,
} from '../../scripts/deploy/supabase.ts'
import { openTokens, tokensPath } from '../../scripts/deploy/tokens.ts'
import { startGateway } from '../../scripts/local/gateway.ts'
import { createDatabase } from '../support/database.ts'
import { type FakeSupabase, openFakeSupabase } from '../support/deploy/fake-supabase.ts'

const passphrase = 'correct horse battery'
const folder = mkdtempSync(join(tmpdir(), 'aoa-tokens-'))
afterAll(() => rmSync(folder, { recursive: true }))

let clock: number
let files = 0
let file: string
let fake: FakeSupabase
let access: SupabaseProject
let lines: string[]

beforeEach(() => {
  clock = Date.now()
  file = join(folder, `${(files += 1)}.toml`)
  fake = openFakeSupabase(() => new Date(clock), '')
  lines = []
  access = {
    url: fake.url,
    token: fake.token,
    project: fake.project,
    fetch: (input, init) => fake.answer(new Request(input, init)),
    signal: new AbortController().signal,
  }
})

const work = {
  now: () => new Date(clock),
  pause: async (milliseconds: number) => {
    clock += milliseconds
  },
  say: (line: string): void => {
    lines.push(line)
  },
}
const open = (differs: Partial<typeof work> = {}) =>
  openTokens(access, file, passphrase, { ...work, ...differs })

test('a project that signs with its old secret takes over the key, and the database accepts its tokens', async () => {
  const tokens = await open()

  const apiKey = await publishableKey(access)
  const database = await createDatabase()
  const keys = { apiKeys: { [apiKey]: 'anon' as const }, jwks: fake.jwks() }
  const gateway = await startGateway({ databaseUrl: database.url, schema: 'api', keys })
  const ask = async (name: string, token: string) => {
    const answer = await fetch(`${gateway.url}/rest/v1/rpc/${name}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-profile': 'api',
        apikey: apiKey,
        authorization: `Bearer ${token}`,
      },
      body: '{}',
    })
    return answer.status
  }
  expect(await ask('custody_ready', tokens.custody)).toBe(204)
  expect(await ask('custody_ready', tokens.vault)).toBe(403)
  expect(await ask('health_states', tokens.service_role)).toBe(200)
  expect(fake.keys.map(({ algorithm, status }) => [algorithm, status])).toEqual([
    ['HS256', 'previously_used'],
    ['ES256', 'in_use'],
  ])
  await gateway.close()
  await database.drop()
})

test('a second run changes nothing and returns the same tokens', async () => {
  const first = await open()
  const changes = [...fake.changes]
  const sealed = readFileSync(tokensPath(file))

  const second = await open()

  expect(second).toEqual(first)
  expect(fake.changes).toEqual(changes)
  expect(readFileSync(tokensPath(file)).equals(sealed)).toBe(true)
})

test('a run that is killed at any line is continued with the same key', async () => {
  for (const at of [1, 2, 3, 4, 5]) {
    let said = 0
    const say = () => {
      said += 1
      if (said === at) throw new Error('killed')
    }
    await open({ say }).catch((error: Error) => expect(error.message).toBe('killed'))
  }
  const tokens = await open()

  expect(fake.keys.map(({ status }) => status)).toEqual(['previously_used', 'in_use'])
  expect(await open()).toEqual(tokens)
})

test('tokens are minted anew with the same key before they end', async () => {
  const first = await open()
  clock += 300 * 86_400_000

  const second = await open()

  expect(second.custody).not.toBe(first.custody)
  expect(second.expiresAt.getTime() - clock).toBeGreaterThan(364 * 86_400_000)
  expect(fake.keys).toHaveLength(2)
})

test('a standby key of another hand is put aside and stays trusted', async () => {
  await open()
  rmSync(tokensPath(file))
  clock += 600_000
  const { x, y, crv } = { x: 'x', y: 'y', crv: 'P-256' as const }
  const jwk = { kty: 'EC', crv, x, y, d: 'd' }
  const path = `${access.url}/v1/projects/${fake.project}/config/auth/signing-keys`
  const headers = { authorization: `Bearer ${fake.token}` }
  const body = JSON.stringify({ algorithm: 'ES256', private_jwk: jwk })
  await fake.answer(new Request(path, { method: 'POST', headers, body }))

  await open()

  expect(fake.keys.map(({ status }) => status)).toEqual([
    'previously_used',
    'previously_used',
    'previously_used',
    'in_use',
  ])
})

test('a revoked key is named with what to do, and no token is minted', async () => {
  await open()
  const [, own] = fake.keys
  if (own) own.status = 'revoked'

  await expect(open()).rejects.toThrow(
    /is revoked: move it to standby .* or delete the .tokens file/,
  )
})

test('a project that would throttle for longer than a run waits is named with the time', async () => {
  const until = new Date(clock + 3_600_000).toISOString()
  const throttles = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    if (request.method === 'GET') return fake.answer(request)
    const message = `Please wait until ${until} before attempting this request again.`
    return request.url.endsWith('/legacy')
      ? fake.answer(request)
      : Response.json({ message }, { status: 429 })
  }

  const opening = openTokens({ ...access, fetch: throttles }, file, passphrase, work)

  await expect(opening).rejects.toThrow(`before ${until}; run this again then`)
})

test('neither a token nor a key stands in a line, and the file is sealed', async () => {
  const tokens = await open()

  const said = lines.join('\n')
  for (const secret of [tokens.custody, tokens.vault, tokens.service_role, fake.token]) {
    expect(said).not.toContain(secret)
  }
  expect(existsSync(tokensPath(file))).toBe(true)
  expect(readFileSync(tokensPath(file), 'latin1')).not.toContain('signing_key')
  await expect(openTokens(access, file, 'another passphrase', work)).rejects.toThrow(
    'the passphrase is another one',
  )
})

test.each([
  ['token', 401, (one: SupabaseProject) => ({ ...one, token: 'sbp_wrong' })],
  ['project', 404, (one: SupabaseProject) => ({ ...one, project: 'z'.repeat(20) })],
])('the refusal of a wrong %s is told with its status', async (_, status, differ) => {
  await expect(exposedSchemas(differ(access))).rejects.toThrow(`(${status})`)
})
