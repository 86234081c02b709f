/** A session token is accepted only with our signature, for this service, and until it ends. */
import { generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createSessionKeys } from '../../scripts/local/secrets.ts'
import { openSessionToken, readSessionToken } from '../../shared/auth/session.ts'
import { openBrowser, signedIn } from '../support/browserless.ts'
import { randomUUID } from '../support/seed.ts'
import { start } from '../support/world.ts'

const world = await start()
const cookie = '__Host-aoa_session'
const agent = await world.agent('full')
const browser = await signedIn(world, agent)
const token = browser.cookies.get(cookie) ?? ''

/** Returns where a browser with this token gets when it asks for the owner's first page. */
async function opens(carried: string): Promise<'account' | 'sign-in'> {
  const other = openBrowser(world)
  other.cookies.set(cookie, carried)
  const { path, text } = await other.visit('/web')
  if (path.startsWith('/web/login')) return 'sign-in'
  expect(text).toContain(agent.alias)
  return 'account'
}

const header = z.object({ kid: z.string() }).loose()
const claims = z.object({ sid: z.string() }).loose()
const keys = z.object({ keys: z.array(z.looseObject({})) })

/** Decodes one part of a token, as any stranger can. */
function partOf<Part>(part: z.ZodType<Part>, text = ''): Part {
  return part.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
}

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('an ended session is refused at the next page', async () => {
  const own = await signedIn(world, agent)
  const its = own.cookies.get(cookie) ?? ''
  const before = await opens(its)

  await world.db.sql`update private.credentials set revoked_at = private.clock()
    where kind = 'session' and id = (select id from private.credentials where kind = 'session'
      order by created_at desc limit 1)`

  expect([before, await opens(its)]).toEqual(['account', 'sign-in'])
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
    `${head}.${base64url({ ...told, sub: randomUUID() })}.${signature}`,
    `${head}.${body}.`,
    `${head}.${body}`,
    `${token}x`,
  ]

  expect(await opens(token)).toBe('account')
  for (const one of forged) expect(await opens(one), one).toBe('sign-in')
})

test('a token for another service, or one that is over, is refused', async () => {
  const { sid } = partOf(claims, token.split('.')[1])
  const expiresAt = new Date(world.world.now().getTime() + 60_000)
  const given = { sid, account: agent.id, expiresAt }
  const { config } = world.world
  const with_ = (differs: Partial<typeof config>) =>
    openSessionToken({ ...world.world, config: { ...config, ...differs } }, given)

  const others = [
    await with_({ WEB_URL: 'https://other.example/web' }),
    await with_({ BASE_URL: 'https://other.example' }),
    await with_({ SESSION_PRIVATE_KEY: createSessionKeys().privateKey }),
    await openSessionToken(world.world, { ...given, expiresAt: new Date(0) }),
  ]

  expect(await opens(await with_({}))).toBe('account')
  for (const one of others) expect(await opens(one)).toBe('sign-in')
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

  for (const one of [sid, String(row?.['digest'])]) expect(await opens(one)).toBe('sign-in')
})
