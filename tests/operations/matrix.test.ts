/** Every operation meets the common rules; the tests are generated from the contracts. */
import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { contracts } from '../../functions/contracts.ts'
import { createApiKey } from '../../shared/auth/api-key.ts'
import { contractDigest } from '../../shared/contract/digest.ts'
import type { Operation } from '../../shared/contract/operation.ts'
import { refusedSampleOf, type Shape, sampleOf, shapeOf, wrongShapes } from '../support/samples.ts'
import { randomBytes } from '../support/seed.ts'
import { type Agent, type Answer, type Scope, start } from '../support/world.ts'

/** Endpoint of a silent chain: port 9 discards everything (RFC 863). */
const rpcUrls = { 'eip155:84532': ['http://127.0.0.1:9'] }
const world = await start({ rpcUrls })
const everyone = {
  read: await world.agent('read'),
  pay: await world.agent('pay'),
  full: await world.agent('full'),
  vault: await world.agent('vault'),
}
const protectedContracts = contracts.filter(({ access }) => access !== 'public')

function ask(
  shape: Shape,
  token?: string,
  headers: Record<string, string> = {},
  asked = world,
): Promise<Answer> {
  const auth = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const all = { ...Object.fromEntries(new Headers(shape.init.headers)), ...auth, ...headers }
  return asked.send(shape.path, { ...shape.init, headers: all })
}

/** Returns requests that are right, refused by the operation, and malformed in every way. */
function allShapes(contract: Operation): Shape[] {
  const refused = shapeOf(contract, refusedSampleOf(contract), 'a request that is refused')
  return [shapeOf(contract, sampleOf(contract)), refused, ...wrongShapes(contract)]
}

function admittedAgent(contract: Operation): Agent {
  const { access } = contract
  return access === 'public' || access === 'any' ? everyone.vault : everyone[access]
}

const scopes = ['read', 'pay', 'full', 'vault'] as const

/** Decides whether a scope suffices. The rule is written out, so a change of the scope order fails here. */
function isLetIn({ access }: Operation, held: Scope): boolean {
  if (access === 'any') return true
  if (access === 'vault') return ['vault', 'pay', 'full'].includes(held)
  return (access === 'read' ? ['read', 'pay', 'full'] : ['pay', 'full']).includes(held)
}

/** Operations by which an agent may take something back, also in a frozen account. */
const takesBack = ['payment_mandate_revoke', 'account_webhook_delete']

function isStoppedByFreeze({ access, method, id }: Operation): boolean {
  const takesMoney = access === 'pay' || access === 'full'
  const takesSecrets = access === 'vault' && method === 'POST'
  return (takesMoney || takesSecrets) && !takesBack.includes(id)
}

/** Asserts the form that every refusal has, whoever the caller is. */
function isRefusal(answer: Answer, status: number, error: string) {
  expect(answer).toMatchObject({ status, body: { error } })
  expect(answer.body['message']).toMatch(/\S/)
  hasFixedHeaders(answer)
  expect(answer.body['request_id']).toBe(answer.headers.get('x-request-id'))
}

function hasFixedHeaders({ headers }: Answer) {
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-contract-digest')).toBe(contractDigest)
  expect(headers.get('content-type')).toMatch(/^application\/json/)
}

async function keyThatIs(state: 'revoked' | 'expired', hoursAgo = 0): Promise<string> {
  const { key, id } = await world.agent('full')
  const column = world.db.sql(state === 'revoked' ? 'revoked_at' : 'expires_at')
  await world.db.sql`update private.credentials
    set ${column} = private.clock() - make_interval(hours => ${hoursAgo}) where account = ${id}`
  return key
}

const unknownKey = () => createApiKey('test', (length) => new Uint8Array(randomBytes(length)))
const mistyped = (key: string) => key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A')

describe.each(protectedContracts)('$id', (contract) => {
  test('answers 401 without a token, whatever else is wrong', async () => {
    for (const shape of allShapes(contract)) {
      const answer = await ask(shape)
      isRefusal(answer, 401, 'unauthorized')
      const challenge = answer.headers.get('www-authenticate')
      expect(challenge).toMatch(/^Bearer scope="\w+", resource_metadata="/)
    }
  })

  test('answers 401 alike for a token that is malformed, unknown, revoked or expired', async () => {
    const malformed = ['x', '', 'a b', `${everyone.full.key}x`, mistyped(everyone.full.key)]
    const dead = [unknownKey(), await keyThatIs('revoked'), await keyThatIs('expired')]
    const bodies = []
    for (const token of [...malformed, ...dead]) {
      for (const shape of allShapes(contract)) {
        const answer = await ask(shape, token)
        expect(answer.status, `${token.slice(0, 9)} ${shape.name}`).toBe(401)
        bodies.push({ ...answer.body, request_id: '' })
      }
    }
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1)
  })

  test('takes the token from the Bearer scheme of the header alone', async () => {
    const shape = shapeOf(contract, sampleOf(contract))
    const { key } = everyone.full
    const inPath = { ...shape, path: `${shape.path}?access_token=${key}&token=${key}` }
    isRefusal(await ask(inPath), 401, 'unauthorized')
    for (const authorization of [key, `Basic ${btoa(`${key}:`)}`, `Bearer${key}`, `Token ${key}`]) {
      isRefusal(await ask(shape, undefined, { authorization }), 401, 'unauthorized')
    }
    isRefusal(await ask(shape, undefined, { cookie: `token=${key}` }), 401, 'unauthorized')
  })

  test('answers 403 to a key with too narrow a scope, whatever else is wrong', async () => {
    for (const scope of scopes.filter((held) => !isLetIn(contract, held))) {
      for (const shape of allShapes(contract)) {
        const answer = await ask(shape, everyone[scope].key)
        expect(answer, `${scope}: ${shape.name}`).toMatchObject({ status: 403 })
        isRefusal(answer, 403, 'insufficient_scope')
        expect(answer.body['hint'], shape.name).toContain(`scope ${contract.access};`)
      }
    }
  })

  test('lets every scope in that covers its own', async () => {
    for (const scope of scopes.filter((held) => isLetIn(contract, held))) {
      const { key } = await world.agent(scope)
      const answer = await ask(shapeOf(contract, sampleOf(contract)), key)
      // The operation may limit what one of them can do, and then declares the refusal as its own.
      const isPartly = contract.errors.includes('insufficient_scope')
      expect(isPartly ? [401] : [401, 403], scope).not.toContain(answer.status)
      hasFixedHeaders(answer)
    }
  })

  // The freeze has a rate of its own, so that a flood of other requests cannot delay it.
  test('answers 429 with the seconds to wait to a key that is used too fast', async () => {
    const isFreeze = contract.id === 'account_freeze'
    const agent = isFreeze ? await world.agent('full') : admittedAgent(contract)
    const { key } = await agent.withKey('full', { perSecond: 1, burst: 1 })
    const [wrong] = wrongShapes(contract)
    if (!wrong) throw new Error('no wrong shape')
    isRefusal(await ask(wrong, key), 400, 'invalid_request')

    const sample = shapeOf(contract, sampleOf(contract))
    for (let call = 0; isFreeze && call < 5; call += 1)
      expect((await ask(sample, key)).status).toBe(200)

    const answer = await ask(sample, key)

    isRefusal(answer, 429, 'rate_limited')
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(answer.body['retry_after_seconds']).toBe(1)
  })

  test('takes no money and no secrets of a frozen account any more, and still does all else', async () => {
    const agent = await world.agent('full')
    await world.db
      .sql`update private.accounts set frozen_at = private.clock() where id = ${agent.id}`
    const answer = await ask(shapeOf(contract, sampleOf(contract)), agent.key)
    if (!isStoppedByFreeze(contract)) expect(answer.body['error']).not.toBe('account_frozen')
    else isRefusal(answer, 403, 'account_frozen')
  })
})

describe.each(contracts)('$id', (contract) => {
  const { key } = admittedAgent(contract)

  test.each(wrongShapes(contract))('tells an admitted caller of $name: $status', async (shape) => {
    const codes: Record<number, string> = {
      400: 'invalid_request',
      413: 'payload_too_large',
      415: 'unsupported_media_type',
    }
    isRefusal(await ask(shape, key), shape.status, codes[shape.status] ?? '')
  })

  test('answers 405 and the right method to every other', async () => {
    const own: string[] = contracts
      .filter(({ folder }) => folder === contract.folder)
      .map(({ method }) => method)
    const all = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
    const others = all.filter((method) => !own.includes(method))
    for (const method of others) {
      const answer = await world.send(`/${contract.folder}`, { method })
      isRefusal(answer, 405, 'method_not_allowed')
      expect(answer.headers.get('allow')).toBe(own.join(', '))
    }
  })

  test('answers 404 and the right path to every other', async () => {
    const { folder, method } = contract
    const paths = [
      `/${folder}/more`,
      `/${folder}/../v1/${folder}`,
      `/v1/${folder}`,
      `/v2/${folder}`,
    ]
    for (const path of paths) {
      const answer = await ask({ name: path, path, init: { method } }, key)
      isRefusal(answer, 404, 'not_found')
      expect(answer.body['hint']).toContain(`{base_url}/${folder};`)
    }
  })
})

test('asks no merchant anything for a caller that is not admitted', async () => {
  let asked = 0
  const merchant = createServer((_request, response) => response.end(String((asked += 1))))
  onTestFinished(() => void merchant.close())
  await new Promise<void>((listening) => merchant.listen(0, '127.0.0.1', listening))
  const address = merchant.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const contract = contracts.find(({ id }) => id === 'x402_payment_prepare')
  if (!contract) throw new Error('no such operation')
  const shape = shapeOf(contract, { resource_url: `http://127.0.0.1:${port}/data` })

  isRefusal(await ask(shape, everyone.pay.key), 409, 'no_payment_required')
  isRefusal(await ask(shape, unknownKey()), 401, 'unauthorized')
  isRefusal(await ask(shape, everyone.read.key), 403, 'insufficient_scope')

  expect(asked).toBe(1)
})

test('limits who asks without a token by the address that the platform names', async () => {
  const alias = (address: string) =>
    world.send('/check-availability?alias=free-name', {
      headers: { 'cf-connecting-ip': address },
    })
  let answer = await alias('192.0.2.1')
  for (let asked = 1; asked < 500 && answer.status === 200; asked += 1) {
    answer = await alias('192.0.2.1')
  }
  isRefusal(answer, 429, 'rate_limited')
  expect(await alias('192.0.2.2')).toMatchObject({ status: 200 })
})

test('answers 503 for every operation while the database is down, and changes nothing', async () => {
  const dark = await start({ rpcUrls })
  const { key } = await dark.agent('full')
  await dark.db.stopGateway()
  for (const contract of contracts) {
    const [wrong] = contract.access === 'public' ? [] : wrongShapes(contract)
    for (const shape of [shapeOf(contract, sampleOf(contract)), ...(wrong ? [wrong] : [])]) {
      const token = contract.access === 'public' ? undefined : key
      isRefusal(await ask(shape, token, {}, dark), 503, 'unavailable')
    }
  }
})
