import { generateKeyPairSync, sign } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { contracts } from '../../functions/contracts.ts'
import { createSessionKeys } from '../../scripts/local/session-keys.ts'
import { openSessionToken, readSessionToken } from '../../shared/auth/session.ts'
import type { Browser } from '../support/browserless.ts'
import { openBrowser, signedIn } from '../support/browserless.ts'
import { sampleOf, shapeOf } from '../support/samples.ts'
import type { Agent } from '../support/world.ts'
import { start } from '../support/world.ts'

const world = await start({ rpcUrls: { 'eip155:84532': ['http://127.0.0.1:9'] } })
const session = '__Host-aoa_session'
let agent: Agent
let browser: Browser
let token: string

beforeAll(async () => {
  agent = await world.agent('full')
  browser = await signedIn(world, agent)
  token = browser.cookies.get(session) ?? ''
})

async function ask(path: string, bearer: string, init: RequestInit = {}) {
  const headers = {
    ...Object.fromEntries(new Headers(init.headers)),
    authorization: `Bearer ${bearer}`,
  }
  const { status, body } = await world.send(path, { ...init, headers })
  return { status, body }
}

const header = z.object({ kid: z.string() }).loose()
const claims = z.object({ sid: z.string() }).loose()
const keys = z.object({ keys: z.array(z.looseObject({})) })

/** One part of a token, read as a stranger can. */
function partOf<Part>(part: z.ZodType<Part>, text = ''): Part {
  return part.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
}

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test.each(contracts.filter(({ access }) => access !== 'public'))(
  '$id is open to a session where it needs no more than reading or the vault',
  async (contract) => {
    const { path, init } = shapeOf(contract, sampleOf(contract))
    const own = await signedIn(world, await world.agent('full'))

    const { status, body } = await ask(path, own.cookies.get(session) ?? '', init)

    if (['any', 'read', 'vault'].includes(contract.access)) expect([401, 403]).not.toContain(status)
    else expect([status, body['error']]).toEqual([403, 'insufficient_scope'])
  },
)

test('get_identity tells a session from a key', async () => {
  const { body } = await ask('/get-identity', token)

  expect(body).toMatchObject({
    account_id: agent.id,
    credential: { kind: 'session', scopes: ['owner'] },
  })
})

test('an ended session is refused at the next call', async () => {
  const own = await signedIn(world, agent)
  const its = own.cookies.get(session) ?? ''
  const before = await ask('/get-identity', its)

  await world.db.sql`update private.credentials set revoked_at = private.clock()
    where kind = 'session' and id = (select id from private.credentials where kind = 'session'
      order by created_at desc limit 1)`

  expect([before.status, (await ask('/get-identity', its)).status]).toEqual([200, 401])
})

test('a token whose signature is not ours is refused', async () => {
  const [head = '', body = '', signature = ''] = token.split('.')
  const { kid } = partOf(header, head)
  const told = partOf(claims, body)
  const { privateKey } = generateKeyPairSync('ed25519')
  const signed = (header: object, payload: object) => {
    const text = `${base64url(header)}.${base64url(payload)}`
    return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`
  }

  const forged = [
    signed({ alg: 'EdDSA', typ: 'JWT', kid }, told),
    signed({ alg: 'EdDSA', typ: 'JWT', kid: 'another' }, told),
    `${base64url({ alg: 'none', typ: 'JWT' })}.${body}.`,
    `${base64url({ alg: 'none', typ: 'JWT', kid })}.${body}.${signature}`,
    `${base64url({ alg: 'HS256', typ: 'JWT', kid })}.${body}.${signature}`,
    `${head}.${base64url({ ...told, sub: crypto.randomUUID() })}.${signature}`,
    `${head}.${body}.`,
    `${head}.${body}`,
    `${token}x`,
  ]

  expect((await ask('/get-identity', token)).status).toBe(200)
  for (const one of forged) expect((await ask('/get-identity', one)).status, one).toBe(401)
})

test('a token for another service, or one that is over, is refused', async () => {
  const { sid } = partOf(claims, token.split('.')[1])
  const given = {
    sid,
    account: agent.id,
    expiresAt: new Date(world.world.now().getTime() + 60_000),
  }
  const { config } = world.world
  const with_ = (differs: Partial<typeof config>) =>
    openSessionToken({ ...world.world, config: { ...config, ...differs } }, given)

  const others = [
    await with_({ WEB_URL: 'https://other.example/web' }),
    await with_({ BASE_URL: 'https://other.example' }),
    await with_({ SESSION_PRIVATE_KEY: createSessionKeys().privateKey }),
    await openSessionToken(world.world, { ...given, expiresAt: new Date(0) }),
  ]

  expect((await ask('/get-identity', await with_({}))).status).toBe(200)
  for (const one of others) expect((await ask('/get-identity', one)).status).toBe(401)
})

test('a token signed with the key before is good while that key is published', async () => {
  const [older, newer] = [createSessionKeys(), createSessionKeys()]
  const keysOf = (text: string) => keys.parse(JSON.parse(text)).keys
  const both = JSON.stringify({ keys: [...keysOf(newer.publicKeys), ...keysOf(older.publicKeys)] })
  const given = { sid: 'A'.repeat(43), account: agent.id, expiresAt: new Date(Date.now() + 60_000) }
  const withKeys = (privateKey: string, publicKeys: string) => ({
    ...world.world,
    config: {
      ...world.world.config,
      SESSION_PRIVATE_KEY: privateKey,
      SESSION_PUBLIC_KEYS: publicKeys,
    },
  })

  const old = await openSessionToken(withKeys(older.privateKey, both), given)

  expect(await readSessionToken(withKeys(newer.privateKey, both), old)).toMatchObject({
    account: agent.id,
  })
  expect(await readSessionToken(withKeys(newer.privateKey, newer.publicKeys), old)).toBeUndefined()
})

test('the published keys hold no private part', async () => {
  const { html } = await openBrowser(world).send('/web/jwks.json')

  expect(JSON.parse(html)).toMatchObject({ keys: [{ kty: 'OKP', crv: 'Ed25519' }] })
  expect(html).not.toContain('"d"')
})

test('a session id is no token by itself, and neither is its hash', async () => {
  const { sid } = partOf(claims, token.split('.')[1])
  const [row] = await world.db
    .sql`select digest from private.credentials where kind = 'session' limit 1`

  for (const one of [sid, row?.['digest']])
    expect((await ask('/get-identity', String(one))).status).toBe(401)
})
