/**
 * Side channels reveal no secret to an agent that guesses: digests of an answer before removal, answers
 * that come or fail to come, and answers stored for repeats.
 */
import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import type { Answering, TestServer } from '../support/http.ts'
import { serverThat } from '../support/http.ts'
import { approvePlace, codeOf, entryOf } from '../support/vault-rows.ts'
import type { Agent, Answer, TestWorld } from '../support/world.ts'
import { start } from '../support/world.ts'

const path = '/vault-use'
const password = 'sunshine1'

let world: TestWorld
let answer: Answering
let site: TestServer
let origin: string
let agent: Agent
beforeAll(async () => {
  world = await start()
  site = await serverThat((response, received) => answer(response, received))
  origin = new URL(site.url).origin
  agent = await world.agent('vault')
})

const inject = [{ where: 'form_field', name: 'p', secret: 'password' }]

async function login(username: string, secret = password): Promise<string> {
  const entry = await entryOf(world, agent, { site: origin, username, password: secret })
  await approvePlace(world, entry, { name: 'p' })
  return entry
}

function use(credential_id: string, order: object = {}, headers = {}): Promise<Answer> {
  return agent.post(path, { credential_id, method: 'POST', path: '/', inject, ...order }, headers)
}

const sha1 = (text: string) => createHash('sha1').update(text).digest('base64')
const digests = (text: string) => ({
  etag: `W/"${text.length.toString(16)}-${sha1(text)}"`,
  digest: `sha=${sha1(text)}`,
  'repr-digest': `sha=:${sha1(text)}:`,
  'content-md5': sha1(text),
  'x-goog-hash': sha1(text),
  'x-amz-checksum-sha1': sha1(text),
})
const digestNames = Object.keys(digests(''))

test.each([
  ['an answer from which a secret was taken', 'POST', 'text/plain', '[secret removed]'],
  ['an answer that is no text', 'POST', 'image/png', ''],
  ['an answer of which only the headers came', 'HEAD', 'text/plain', ''],
])('no digest of %s is told', async (_, method, type, shown) => {
  const entry = await login(type + method)
  await approvePlace(world, entry, { where: 'header', name: 'x-p', method })
  answer = (response, { headers, body }) => {
    const form = new URLSearchParams(body.toString())
    const page = form.get('p') ?? String(headers['x-p'])
    response.writeHead(200, { ...digests(page), 'x-page': '1', 'content-type': type })
    response.end(type === 'image/png' ? Buffer.concat([Buffer.of(0xff), Buffer.from(page)]) : page)
  }
  const inHeader = { method, inject: [{ where: 'header', name: 'x-p', secret: 'password' }] }

  const { body } = await use(entry, method === 'HEAD' ? inHeader : {})

  expect(body['response']).toMatchObject({ body: shown, headers: { 'x-page': '1' } })
  for (const name of digestNames) expect(body).not.toHaveProperty(['response', 'headers', name])
})

test('the digest of an answer that is shown whole is told, for a change that depends on it', async () => {
  const entry = await login('whole')
  answer = (response) => response.writeHead(200, { etag: '"7"' }).end('{"rows":3}')

  expect((await use(entry)).body['response']).toMatchObject({
    headers: { etag: '"7"' },
    body: '{"rows":3}',
  })
})

test('of a PIN no request tells whether it is among those that the agent has the site say', async () => {
  const pin = '4711'
  const entry = await login('pin', pin)
  answer = (response, { body }) => {
    const said = new URLSearchParams(body.toString()).get('said') ?? ''
    response.setHeader('set-cookie', 'sid=1').end(said)
  }

  const right = await use(entry, { form: { said: '4700 4711 4712' } })
  const wrong = await use(entry, { form: { said: '4800 4811 4812' } })

  const told = ({ body }: Answer) => ({ ...body, request_id: '' })
  expect(right).toMatchObject({
    status: 200,
    body: { response: { status: 200 }, withheld: 'short_secret' },
  })
  expect(told(right)).toEqual(told(wrong))
})

test('of a number the guesses that are missing tell no more than what leaves the same by three', async () => {
  const numbers = ['604918', '937045']
  const entries = await Promise.all(numbers.map((number) => login(number, number)))
  answer = (response, { body }) => {
    response.end(new URLSearchParams(body.toString()).get('said'))
  }

  const form = { said: '100000 604918 604919 604948 819406 937045' }
  const answers = await Promise.all(entries.map((entry) => use(entry, { form })))

  const removed = '[secret removed]'
  const body = ['100000', removed, '604919', removed, removed, removed].join(' ')
  expect(answers.map((one) => one.body['response'])).toMatchObject([{ body }, { body }])
})

test('a code of four digits does not hide the session that it opens', async () => {
  const entry = await login('otp')
  await approvePlace(world, entry, { secret: 'mail', name: 'code' })
  const handle = await codeOf(world, agent, { value: '4711', hosts: ['127.0.0.1'] })
  answer = (response) => response.setHeader('set-cookie', 'sid=1').end('welcome')

  const code = [{ where: 'form_field', name: 'code', secret: `mail.${handle}` }]
  const { body } = await use(entry, { inject: code })

  expect(body['response']).toMatchObject({ cookies: ['sid=1'], body: 'welcome' })
})

test('an answer that is kept for repeats of a request lies sealed in the database', async () => {
  const entry = await login('kept')
  answer = (response) => response.setHeader('set-cookie', 'sid=canary-session').end('Canary words.')
  const headers = { 'idempotency-key': 'kept' }

  const first = await use(entry, {}, headers)
  const again = await use(entry, {}, headers)

  expect(first.body['response']).toMatchObject({
    body: 'Canary words.',
    cookies: ['sid=canary-session'],
  })
  expect(again.body).toEqual(first.body)
  const rows = await world.db.sql`select i::text as row from private.idempotent_answers i`
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toMatch(/canary|sid=/i)
})

test('a kept answer that stands in the place of another is not given out', async () => {
  const entry = await login('moved')
  const { sql } = world.db
  const ask = (key: string) => use(entry, {}, { 'idempotency-key': key })
  for (const key of ['from', 'to']) {
    answer = (response) => response.end(`words of ${key}`)
    await ask(key)
  }
  await sql`update private.idempotent_answers i set body = o.body
    from private.idempotent_answers o where i.key = 'to' and o.key = 'from'`

  const moved = await ask('to')

  expect(moved).toMatchObject({ status: 500, body: { error: 'internal_error' } })
  expect(JSON.stringify(moved.body)).not.toContain('words of')
})
