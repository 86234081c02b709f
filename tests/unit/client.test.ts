/** The typed client repeats only calls without a second effect, gives up in time, and throws refusals. */
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { type AccountError, createClient, isRefusal, pages } from '../../scripts/client/index.ts'
import { type Answering, answering, type Received, serverThat, silence } from '../support/http.ts'

const order = { recipient: 'shop', chain: 'base', token: 'USDC', amount: '1' }
const done: Answering = answering(200, {}, '{"status":"done"}')
const lost: Answering = (response) => void response.destroy()

function refusing(status: number, error: string, more: Record<string, unknown> = {}): Answering {
  return answering(status, {}, JSON.stringify({ error, message: 'A sentence.', ...more }))
}

/** Starts a service that gives these answers in turn and then repeats the last one. */
async function serviceThat(...answers: [Answering, ...Answering[]]) {
  const service = await serverThat((response: ServerResponse, received: Received) => {
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    answer?.(response, received)
  })
  return { ...service, client: createClient({ baseUrl: service.url, apiKey: 'a-key' }) }
}

async function thrownBy(call: Promise<unknown>): Promise<AccountError> {
  return call.then(
    () => Promise.reject(new Error('it was answered')),
    (error: AccountError) => error,
  )
}

test('sends a GET with its fields in the query and the key in the header alone', async () => {
  const { client, received } = await serviceThat(done)

  await client.mailList({ limit: '5', from: 'a b@example.com', subject: undefined })

  const [sent] = received
  expect(sent).toMatchObject({
    method: 'GET',
    url: '/mail-list?limit=5&from=a+b%40example.com',
    headers: { authorization: 'Bearer a-key', 'user-agent': 'agent-operating-account-client' },
  })
  expect(sent?.body.toString()).toBe('')
})

test('sends a POST as JSON, under a key of its own where the operation takes one', async () => {
  const { client, received } = await serviceThat(done)

  await client.walletCustodialTransfer(order)
  await client.walletCustodialTransfer(order)
  await client.transferStatus({ tx_hash: '0x0' })

  const keys = received.map(({ headers }) => headers['idempotency-key'])
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
  expect(keys[1]).not.toBe(keys[0])
  expect(keys[2]).toBeUndefined()
  expect(JSON.parse(received[0]?.body.toString() ?? '')).toEqual(order)
  expect(received[0]?.headers['content-type']).toBe('application/json')
})

test('asks for a token before each request and sends the name of its device', async () => {
  const { url, received } = await serviceThat(
    refusing(503, 'unavailable', { retry_after_seconds: 0 }),
    done,
  )
  let count = 0
  const token = () => Promise.resolve(`token-${(count += 1)}`)

  await createClient({ baseUrl: url, token, deviceId: 'device-1' }).getIdentity()

  expect(received.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer token-1',
    'Bearer token-2',
  ])
  expect(received[0]?.headers['x-device-id']).toBe('device-1')
})

test('calls public operations without any token', async () => {
  const { url, received } = await serviceThat(done)

  await createClient({ baseUrl: url }).checkAlias({ alias: 'a-name' })

  expect(received[0]?.headers).not.toHaveProperty('authorization')
})

test.each([
  ['rate_limited', 429],
  ['unavailable', 503],
  ['conflict', 409],
] as const)('repeats a call that is refused with %s, under the same key', async (code, status) => {
  const passing = refusing(status, code, { retry_after_seconds: 0 })
  const { client, received } = await serviceThat(passing, passing, done)

  const answer = await client.walletCustodialTransfer(order)

  expect(answer).toEqual({ status: 'done' })
  expect(received).toHaveLength(3)
  expect(new Set(received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
})

test('repeats three times and no more, and then throws the last refusal', async () => {
  const { client, received } = await serviceThat(
    refusing(503, 'unavailable', { retry_after_seconds: 0 }),
  )

  const error = await thrownBy(client.getIdentity())
  const alone = await thrownBy(client.getIdentity({}, { repetitionsMax: 0 }))

  expect([error.code, alone.code]).toEqual(['unavailable', 'unavailable'])
  expect(received).toHaveLength(5)
})

test('gives up at once where the service asks for more time than the call has', async () => {
  const { client, received } = await serviceThat(
    refusing(429, 'rate_limited', { retry_after_seconds: 61 }),
  )

  const error = await thrownBy(client.getIdentity())

  expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryAfterSeconds: 61 })
  expect(received).toHaveLength(1)
})

test.each([
  ['a refusal for good', refusing(403, 'limit_exceeded')],
  ['a site that does not answer', refusing(502, 'site_unavailable')],
  ['a daily limit', refusing(429, 'mail_limit_reached')],
  ['a failure inside', refusing(500, 'internal_error')],
])('does not repeat after %s', async (_, answer) => {
  const { client, received } = await serviceThat(answer)

  await thrownBy(client.walletCustodialTransfer(order))

  expect(received).toHaveLength(1)
})

test('repeats after a lost answer only what cannot have a second effect', async () => {
  const { client, received } = await serviceThat(lost, done, lost, done, lost)

  await client.getIdentity()
  await client.walletCustodialTransfer(order)
  const error = await thrownBy(client.createLoginLink({ action_type: 'login' }))

  expect(error).toMatchObject({ code: 'network_error', status: 0 })
  expect(received.map(({ url }) => url)).toEqual([
    '/get-identity',
    '/get-identity',
    '/wallet-custodial-transfer',
    '/wallet-custodial-transfer',
    '/create-hosted-action',
  ])
})

test('a payment whose answer was lost is not told as refused because a repetition has to wait', async () => {
  const busy = refusing(429, 'rate_limited', { retry_after_seconds: 61 })
  const { client } = await serviceThat(
    lost,
    busy,
    lost,
    refusing(403, 'limit_exceeded'),
    lost,
    busy,
  )

  const waiting = await thrownBy(client.walletCustodialTransfer(order))
  const refused = await thrownBy(client.walletCustodialTransfer(order))
  const read = await thrownBy(client.getIdentity())

  expect([waiting.code, refused.code, read.code]).toEqual([
    'network_error',
    'limit_exceeded',
    'rate_limited',
  ])
})

test('tells all that a refusal says', async () => {
  const said = { hint: 'Wait.', details: { left: '1' }, request_id: 'r-1' }
  const { client } = await serviceThat(refusing(403, 'limit_exceeded', said))

  const error = await thrownBy(client.walletCustodialTransfer(order))

  expect(error).toMatchObject({
    name: 'AccountError',
    operation: 'wallet_custodial_transfer',
    code: 'limit_exceeded',
    status: 403,
    message: 'A sentence.',
    hint: 'Wait.',
    requestId: 'r-1',
    details: { left: '1' },
  })
  expect(isRefusal(error, 'wallet_custodial_transfer')).toBe(true)
  expect(isRefusal(error, 'get_identity')).toBe(false)
})

test.each([
  ['a page of HTML', answering(200, {}, '<html></html>'), 200],
  ['a list', answering(200, {}, '[]'), 200],
  ['nothing', answering(200), 200],
  ['a code that it does not know', refusing(418, 'teapot'), 418],
  ['an object without a code', answering(404, {}, '{}'), 404],
  ['a redirect', answering(302, { location: 'http://127.0.0.1:9/' }), 302],
])('throws unexpected_answer for %s', async (_, answer, status) => {
  const { client } = await serviceThat(answer)

  const error = await thrownBy(client.getIdentity())

  expect(error).toMatchObject({ code: 'unexpected_answer', status })
})

test('throws timeout after the time that the call was given', async () => {
  const { client } = await serviceThat(silence)

  const error = await thrownBy(client.getIdentity({}, { timeoutMilliseconds: 50 }))

  expect(error).toMatchObject({ code: 'timeout', status: 0 })
})

test("throws the reason of the caller's signal, also while it waits to repeat", async () => {
  const reason = new Error('no longer wanted')
  const caller = new AbortController()
  const { client } = await serviceThat(() => caller.abort(reason))
  const between = new AbortController()
  const later = { error: 'unavailable', message: 'A sentence.', retry_after_seconds: 30 }
  const fetch = () => {
    setImmediate(() => between.abort(reason))
    return Promise.resolve(Response.json(later, { status: 503 }))
  }
  const waiting = createClient({ baseUrl: 'https://account.example', fetch })

  const asked = await thrownBy(client.getIdentity({}, { signal: caller.signal }))
  const waited = await thrownBy(waiting.getIdentity({}, { signal: between.signal }))

  expect([asked, waited]).toEqual([reason, reason])
})

test('reads a list page by page until there is no cursor', async () => {
  const page = (cursor: string | null) =>
    answering(200, {}, JSON.stringify({ items: [], next_cursor: cursor }))
  const { client, received } = await serviceThat(page('2'), page('3'), page(null))

  const read = []
  for await (const { next_cursor } of pages(client.walletActivityList, { limit: '1' }))
    read.push(next_cursor)

  expect(read).toEqual(['2', '3', null])
  expect(received.map(({ url }) => url)).toEqual([
    '/wallet-activity-list?limit=1',
    '/wallet-activity-list?limit=1&cursor=2',
    '/wallet-activity-list?limit=1&cursor=3',
  ])
})

test.each([
  'http://account.example',
  'http://127.0.0.1.example',
  'ftp://127.0.0.1',
  'account.example',
])('does not open for %s, where a token could be read on its way', (baseUrl) => {
  expect(() => createClient({ baseUrl })).toThrow(TypeError)
})

test('says nothing of a token that cannot be sent', async () => {
  const client = createClient({ baseUrl: 'https://account.example', apiKey: 'a-secret-key\n' })

  const error = await thrownBy(client.getIdentity())

  expect(String(error)).toMatch(/characters that no token has/)
  expect(String(error.stack)).not.toContain('a-secret-key')
})
