import { beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import type { Database } from '../../shared/db/database.ts'
import { requestSignup } from '../../shared/onboarding/signup.ts'
import { runHousekeeping } from '../../shared/payments/settle/housekeeping.ts'
import { costOf } from '../support/cost.ts'
import { fillBucket } from '../support/full-bucket.ts'
import { codeFor, mailsTo, post, requestCode } from '../support/sign-up.ts'
import { start } from '../support/world.ts'

const world = await start()
const path = '/request-signup-verification'
const sent = { status: 200, body: { status: 'sent', expires_in_seconds: 600 } }

// Restores the shared allowance of codes that the tests before have used.
beforeEach(async () => {
  await world.db.sql`delete from private.rate_buckets where bucket = 'sign-up'`
})

/** Returns an address that has an account. */
async function known(email: string): Promise<string> {
  const { id } = await world.agent('read')
  await world.db.sql`insert into private.owners (account, email) values (${id}, ${email})`
  return email
}

async function rowsOf(email: string): Promise<number> {
  const rows = await world.db.sql`select from private.signups where email = ${email}`
  return rows.length
}

test('sends a code of six digits to the address', async () => {
  expect(await requestCode(world, 'ada@example.com')).toMatchObject(sent)

  const [mail, ...others] = await mailsTo(world, 'ada@example.com')

  expect(others).toEqual([])
  expect(mail?.subject).toBe('Your sign-up code')
  expect(mail?.text).toMatch(/^ {4}\d{6}$/m)
  expect(mail?.html).toContain(await codeFor(world, 'ada@example.com'))
})

test('an address is one in every case of its letters', async () => {
  await post(world, path, { email: 'Bea@Example.COM' })
  await requestCode(world, 'bea@example.com')

  expect(await rowsOf('bea@example.com')).toBe(2)
})

test('keeps neither code nor link where the database could tell them', async () => {
  await requestCode(world, 'cleo@example.com')
  const code = await codeFor(world, 'cleo@example.com')

  const rows = await world.db.sql`select to_jsonb(s)::text as row from private.signups s
    where email = 'cleo@example.com' union all select to_jsonb(o)::text from private.outbox o
    where to_address = 'cleo@example.com'`

  expect(rows).toHaveLength(2)
  // Digits within a time or digest are no code, so the code must stand as a word of its own.
  for (const { row } of rows) expect(row).not.toMatch(new RegExp(`\\b${code}\\b`))
})

test('answers the same bytes whether or not the address has an account', async () => {
  await known('owner@example.com')

  const answers = [
    await requestCode(world, 'owner@example.com'),
    await requestCode(world, 'nobody@example.com'),
  ]

  const seen = answers.map(({ status, body, headers }) => ({
    status,
    body: JSON.stringify(body),
    headers: [...headers].filter(([name]) => name !== 'x-request-id'),
  }))
  expect(seen[0]).toEqual(seen[1])
  const [mail] = await mailsTo(world, 'owner@example.com')
  expect(mail?.subject).toBe('You already have an account')
  expect(mail?.text).not.toMatch(/\b\d{6}\b/)
})

test('does the same work whether or not the address has an account', async () => {
  await known('worker@example.com')
  const calls: { name: string; bytes: number }[] = []
  const db: Database = {
    call(name, args) {
      calls.push({ name, bytes: JSON.stringify(args).length })
      return world.world.db.call(name, args)
    },
  }
  const { requestSignup } = await import('../../shared/onboarding/signup.ts')
  for (const email of ['worker@example.com', 'loafer@example.com']) {
    await requestSignup({ world: { ...world.world, db }, client: 'one' }, { email })
  }

  expect(calls).toHaveLength(2)
  expect(calls[0]).toEqual(calls[1])
  expect(await rowsOf('worker@example.com')).toBe(await rowsOf('loafer@example.com'))
})

test('sends 3 codes an hour and 10 a day to an address, known or not', async () => {
  for (const email of [await known('often@example.com'), 'oftener@example.com']) {
    const statuses: number[] = []
    for (let hour = 0; hour < 4; hour += 1) {
      for (let asked = 0; asked < 4; asked += 1) {
        statuses.push((await requestCode(world, email)).status)
      }
      await world.tick(3_600)
    }
    const full = [200, 200, 200, 429]
    expect(statuses, email).toEqual([...full, ...full, ...full, 200, 429, 429, 429])
    expect(await mailsTo(world, email)).toHaveLength(10)
  }
})

test('says when the next code can be asked for, and sends it then', async () => {
  for (let asked = 0; asked < 3; asked += 1) await requestCode(world, 'wait@example.com')

  const refused = await requestCode(world, 'wait@example.com')
  const wait = Number(refused.body['retry_after_seconds'])

  expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limited' } })
  expect(wait).toBeGreaterThan(3_590)
  expect(wait).toBeLessThanOrEqual(3_600)
  await world.tick(wait)
  expect(await requestCode(world, 'wait@example.com')).toMatchObject(sent)
})

test('requests at once get no more codes than requests in turn', async () => {
  const asked = Array.from({ length: 12 }, () => requestCode(world, 'burst@example.com'))

  const statuses = (await Promise.all(asked)).map(({ status }) => status)

  expect(statuses.filter((status) => status === 200)).toHaveLength(3)
  expect(await rowsOf('burst@example.com')).toBe(3)
})

test('sends 20 codes an hour for one address of the network, or one subscriber of IPv6', async () => {
  const subscriber = Array.from({ length: 21 }, (_, at) => `2001:db8:7:7::${at.toString(16)}`)
  for (const addresses of [Array.from({ length: 21 }, () => '198.51.100.7'), subscriber]) {
    const statuses: number[] = []
    for (const [at, address] of addresses.entries()) {
      const headers = { 'cf-connecting-ip': address }
      statuses.push(
        (await requestCode(world, `n${at}.${address.length}@example.org`, headers)).status,
      )
    }
    expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429])
  }
})

test.each([
  ['256 addresses of IPv4', (at: number) => `198.51.101.${at}`],
  ['48 bits of IPv6', (at: number) => `2001:db8:77:${at.toString(16)}::1`],
])('sends 60 codes an hour for %s together', async (_, addressOf) => {
  const statuses: number[] = []
  for (let at = 0; at < 61; at += 1) {
    const headers = { 'cf-connecting-ip': addressOf(at) }
    statuses.push(
      (await requestCode(world, `w${at}.${addressOf(0).length}@example.org`, headers)).status,
    )
  }
  expect(statuses).toEqual([...Array.from({ length: 60 }, () => 200), 429])
})

test('sends 300 codes at once and one each second for all networks together', async () => {
  await fillBucket(world, 'sign-up', 299)

  const answers = [
    await requestCode(world, 'last@example.org'),
    await requestCode(world, 'late@example.org'),
  ]

  expect(answers).toMatchObject([sent, { status: 429, body: { error: 'rate_limited' } }])
})

test('counts the addresses of one mailbox together', async () => {
  for (const tag of ['', '+a', '+b']) await requestCode(world, `plus${tag}@example.org`)

  expect((await requestCode(world, 'plus+c@example.org')).status).toBe(429)
})

test('keeps a wish for an alias, and refuses one that nobody can have', async () => {
  expect(await post(world, path, { email: 'wish@example.com', alias: ' My-Wish ' })).toMatchObject(
    sent,
  )
  expect(await post(world, path, { email: 'root@example.com', alias: 'root' })).toMatchObject({
    status: 409,
    body: { error: 'alias_unavailable' },
  })

  const rows = await world.db.sql`select wish from private.signups where email = 'wish@example.com'`
  expect([...rows]).toEqual([{ wish: 'my-wish' }])
  expect(await rowsOf('root@example.com')).toBe(0)
})

test.each(['nobody', '@example.com', 'a@b', 'a b@example.com', 'a@example.com\r\nbcc: b@c.de', ''])(
  'refuses %j as an address',
  async (email) => {
    expect(await post(world, path, { email })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    })
  },
)

test('forgets a sign-up after a day', async () => {
  await requestCode(world, 'gone@example.com')
  await world.tick(86_400)
  await runHousekeeping(world.world)

  expect(await world.db.sql`select from private.signups`).toHaveLength(0)
})

/** Returns the calls of the database that a request makes, each with the names of its arguments. */
async function callsFor(email: string): Promise<string[]> {
  const calls: string[] = []
  const own = world.worker({
    fetch: async (input, init) => {
      const request = new Request(input, init)
      const sent: unknown = await request.clone().json()
      calls.push(`${request.url} ${Object.keys(z.looseObject({}).parse(sent)).join()}`)
      return fetch(request)
    },
  })
  await requestSignup({ world: own.world, client: '192.0.2.1' }, { email })
  return calls
}

/** Returns the blocks that the database reads and writes for a request. */
function blocksFor(email: string): Promise<number> {
  const mail = `jsonb_build_object('id', gen_random_uuid(), 'to', '${email}', 'topic', 't', 'sealed', 'x')`
  const request = `api.signup_request('${email}', repeat('0', 64), '192.0.2.1', ${mail}, ${mail})`
  return costOf(world, `select ${request}`)
}

test('does the same work for an address that has an account as for any other', async () => {
  const [owner, nobody] = [await known('one.owner@example.com'), 'two.nobody@example.com']
  await blocksFor(owner)

  const calls = [await callsFor(owner), await callsFor(nobody)]
  const [ofOwner, ofNobody] = [await blocksFor(owner), await blocksFor(nobody)]

  expect(calls[0]).toHaveLength(1)
  expect(calls[0]).toEqual(calls[1])
  expect(Math.abs(ofOwner - ofNobody)).toBeLessThan(ofNobody / 10)
})
