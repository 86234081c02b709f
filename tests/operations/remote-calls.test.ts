/** Calls of functions on another platform: money and secrets behind a public address. */
import { beforeAll, expect, test } from 'vitest'
import { createSessionKeys } from '../../scripts/local/secrets.ts'
import { credentialOf } from '../../shared/auth/api-key.ts'
import { signCall } from '../../shared/remote/caller.ts'
import { callsAddress, offered } from '../../shared/remote/calls.ts'
import { encodeValue } from '../../shared/remote/codec.ts'
import { openDoor, portsOf } from '../support/edge/door.ts'
import { type Agent, pepper, start, type TestWorld } from '../support/world.ts'

let world: TestWorld
let agent: Agent
let credential: string
let door: ReturnType<typeof openDoor>
beforeAll(async () => {
  world = await start()
  agent = await world.agent('pay')
  credential = await credentialOf(agent.key, pepper)
  door = openDoor(world.world)
})

const entry = {
  site: 'https://shop.example.com',
  username: 'me',
  password: 'a password of mine',
  totp_secret: 'JBSWY3DPEHPK3PXP',
}

const entries = async () => (await world.db.sql`select from private.vault_entries`).length

type Given = {
  body?: object
  headers?: Record<string, string>
  token?: string
  method?: string
  sentBody?: string
}

/** Sends a call that is right except for what is given. */
async function send({ body, headers, token, method = 'POST', sentBody }: Given = {}) {
  const args = [{ credential, entry: { ...entry, username: 'other' } }]
  const text = encodeValue(body ?? { to: 'VAULT', method: 'store', args })
  const signed = token ?? (await signCall(door.caller, new TextEncoder().encode(text)))
  const answer = await door.enter(
    new Request(callsAddress(world.world.config), {
      method,
      headers: { authorization: `Bearer ${signed}`, ...headers },
      ...(method === 'POST' && { body: sentBody ?? text }),
    }),
  )
  return { status: answer.status, text: await answer.text() }
}

const nothing = { status: 401, text: '' }

test('an offered call is carried out as over a binding, with its answer and its refusals', async () => {
  const stored = await door.vault.store({ credential, entry })
  const code = await door.vault.totp({
    credential,
    entry: 'credential_id' in stored ? stored.credential_id : '',
  })
  const stranger = await credentialOf((await world.agent('pay')).key, pepper)
  const refused = await door.vault.totp({
    credential: stranger,
    entry: 'credential_id' in stored ? stored.credential_id : '',
  })

  expect(stored).toMatchObject({ username: 'me', version: 1 })
  expect('code' in code && code.code).toMatch(/^[0-9]{6}$/)
  expect(refused).toMatchObject({ refusal: 'credential_not_found' })
})

test('an error has the words that a binding passes on, and no more', async () => {
  const bereft = openDoor(world.worker({ rootKeys: '{"2":"AAAA"}' }).world)
  const direct = await Promise.resolve(
    world.worker({ rootKeys: '{"2":"AAAA"}' }).world.vault?.store({ credential, entry }),
  ).catch((error: Error) => error.message)

  const remote = await bereft.vault
    .store({ credential, entry })
    .catch((error: Error) => error.message)

  expect(remote).toMatch(/expected 32 bytes/)
  expect(remote).toEqual(direct)
})

test('a call without a token, or with one of another key, age, address or kind, gets 401 and no word', async () => {
  const before = await entries()
  const { caller } = door
  const bytes = new TextEncoder().encode(
    encodeValue({
      to: 'VAULT',
      method: 'store',
      args: [{ credential, entry: { ...entry, username: 'other' } }],
    }),
  )
  const otherKey = createSessionKeys().privateKey
  const aged = (seconds: number) =>
    signCall(
      { ...caller, now: () => new Date(world.world.now().getTime() - seconds * 1000) },
      bytes,
    )
  const tokens = {
    none: '',
    words: 'not.a.token',
    'another key': await signCall(
      { ...caller, config: { ...caller.config, REMOTE_CALLS_PRIVATE_KEY: otherKey } },
      bytes,
    ),
    'another address': await signCall(
      { ...caller, config: { ...caller.config, BASE_URL: 'https://other.example' } },
      bytes,
    ),
    '31 seconds old': await aged(31),
    '6 seconds early': await aged(-6),
    'an API key': agent.key,
  }

  for (const [name, token] of Object.entries(tokens)) {
    expect([name, await send({ token })]).toEqual([name, nothing])
  }
  expect(await send({ headers: { authorization: '' } })).toEqual(nothing)
  expect(await send({ method: 'GET' })).toEqual(nothing)
  expect(await entries()).toBe(before)
  expect((await send({ token: await aged(29) })).status).toBe(200)
})

test('a changed argument, target or method makes a call worthless', async () => {
  const before = await entries()
  const changed = [
    {
      to: 'VAULT',
      method: 'store',
      args: [{ credential, entry: { ...entry, username: 'thief' } }],
    },
    { to: 'VAULT', method: 'generate', args: [{ credential, wish: { site: entry.site } }] },
    { to: 'CUSTODY', method: 'relay', args: [{}] },
  ]

  for (const body of changed) {
    expect(await send({ sentBody: encodeValue(body) })).toEqual(nothing)
  }
  expect(await entries()).toBe(before)
})

test('only what operations call is offered, whoever signs', async () => {
  const calls = [
    ['CUSTODY', 'ready'],
    ['CUSTODY', 'replace'],
    ['VAULT', 'keep'],
    ['VAULT', 'admits'],
    ['VAULT', 'storeByLink'],
    ['VAULT', 'lookAt'],
    ['VAULT', 'constructor'],
    ['VAULT', '__proto__'],
    ['VAULT', 'fetch'],
    ['VAULT', 'dup'],
    ['MAIL_READER', 'fetch'],
    ['constructor', 'name'],
  ]

  for (const [to, method] of calls) {
    expect([to, method, await send({ body: { to, method, args: [] } })]).toEqual([
      to,
      method,
      nothing,
    ])
  }
  expect(await send({ body: { to: 'VAULT', method: 'totp', args: {} } })).toEqual(nothing)
  expect(await send({ body: [] })).toEqual(nothing)
})

test('a body that is too long is not taken, and without a token not read', async () => {
  const long = { ...entry, password: 'a'.repeat(512 * 1024) }
  const body = { to: 'VAULT', method: 'store', args: [{ credential, entry: long }] }
  let pulls = 0
  const endless = new ReadableStream({
    pull(controller) {
      pulls += 1
      controller.enqueue(new Uint8Array(1024))
    },
  })

  expect(await send({ body })).toEqual(nothing)
  const unsigned = new Request(callsAddress(world.world.config), {
    method: 'POST',
    body: endless,
    duplex: 'half',
  } as RequestInit)
  expect((await door.enter(unsigned)).status).toBe(401)
  expect(pulls).toBeLessThan(3)
})

test('each call is good once, also for two that come at the same time, and tells nothing the second time', async () => {
  const { caller } = door
  const text = encodeValue({
    to: 'VAULT',
    method: 'generate',
    args: [{ credential, wish: { site: entry.site, username: 'generated' } }],
  })
  const token = await signCall(caller, new TextEncoder().encode(text))
  const again = () => send({ token, sentBody: text })

  const both = await Promise.all([again(), again(), again()])
  const later = await again()

  expect(both.map(({ status }) => `${status}`).toSorted()).toEqual(['200', '401', '401'])
  expect(both.filter(({ status }) => status === 401)).toEqual([nothing, nothing])
  expect(later).toEqual(nothing)
  const versions = await world.db.sql<{ version: number }[]>`
    select version from private.vault_entries where username = 'generated'`
  expect([...versions]).toEqual([{ version: 1 }])
})

test('a call is not carried out while the database cannot say whether it is the first', async () => {
  const db = { call: () => Promise.reject(new Error('down')) }
  const cut = openDoor({ ...world.world, db })
  const before = await entries()

  const asked = cut.vault.store({ credential, entry: { ...entry, username: 'never' } })

  await expect(asked).rejects.toThrow('VAULT.store was answered 503')
  expect(await entries()).toBe(before)
})

test('while no key is public, nobody is let in', async () => {
  const closed = openDoor(world.world)
  const config = {
    ...closed.caller.config,
    REMOTE_CALLS_PRIVATE_KEY: createSessionKeys().privateKey,
  }
  const { vault, custody } = portsOf({ ...closed.caller, config })

  await expect(vault.read({ credential, entry: 'x' })).rejects.toThrow('401')
  await expect(custody.ready()).rejects.toThrow('401')
})

test('every offered method is one of its port', () => {
  const { custody, vault } = world.world
  for (const [port, names] of [
    [custody, offered.CUSTODY],
    [vault, offered.VAULT],
  ] as const) {
    expect(names.filter((name) => !(name in (port ?? {})))).toEqual([])
  }
})
