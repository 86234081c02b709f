import { expect, test } from 'vitest'
import { mailRefusals } from '../../shared/mailbox/receive/parse-refusals.ts'
import { byPlatform, messageOf } from '../support/inbound.ts'
import { start } from '../support/world.ts'

const product = await start()
const { world, db } = product
const from = 'shop@shop.example'

const mailbox = async () => {
  const agent = await product.agent('read')
  return { ...agent, to: `${agent.alias}@agents.example` }
}
let count = 0
const message = (author = from, proof: { authenticated?: string } = {}) => {
  count += 1
  return messageOf({ to: 'x', from: author, subject: `${count}`, text: 'Hello', ...proof })
}

/** Inserts this many received mails of this size, each from another author unless one is given. */
async function fill(account: string, mails: number, { size = 1, author = '', proven = '' } = {}) {
  await db.sql`
    insert into private.mails (id, account, direction, from_address, proven_domain, digest, size,
      room, sealed_head, sealed_body)
    select gen_random_uuid(), ${account}, 'in',
      case when ${author} = '' then n || '@other.example' else ${author} end,
      nullif(${proven}, ''), encode(sha256(n::text::bytea), 'hex'), ${size}, ${size}, '{}', '{}'
    from generate_series(1, ${mails}::integer) as n`
}

const later = { later: `Error: ${mailRefusals.too_many}` }
const unavailable = { later: `Error: ${mailRefusals.unavailable}` }
const full = { rejected: '5.2.2 The mailbox is full' }

test('one author leaves at most 60 mails an hour in a mailbox, and others go on', async () => {
  const { id, to } = await mailbox()
  await fill(id, 59, { author: from })

  expect(await byPlatform(world, { to, raw: message() })).toEqual({ taken: true })
  expect(await byPlatform(world, { to, raw: message('SHOP@shop.example') })).toEqual(later)
  expect(await byPlatform(world, { to, raw: message('b@shop.example') })).toEqual({ taken: true })
  await product.tick(3_601)
  expect(await byPlatform(world, { to, raw: message() })).toEqual({ taken: true })
})

test('a mailbox takes 500 mails a day', async () => {
  const { id, to } = await mailbox()
  await fill(id, 499)

  expect(await byPlatform(world, { to, raw: message() })).toEqual({ taken: true })
  expect(await byPlatform(world, { to, raw: message() })).toEqual(later)
  await product.tick(86_401)
  expect(await byPlatform(world, { to, raw: message() })).toEqual({ taken: true })
})

test.each([
  ['in one name keep the real ones of that name out', 60, from],
  ['of a whole day keep a mail that is proven out', 500, ''],
])('no mails %s', async (_what, mails, author) => {
  const { id, to } = await mailbox()
  await fill(id, mails, { author })
  const real = message(from, { authenticated: 'shop.example' })

  expect(await byPlatform(world, { to, from, raw: message() })).toEqual(later)
  expect(await byPlatform(world, { to, from, raw: real })).toEqual({ taken: true })
})

test('mails that are proven to be of one author have a limit as well', async () => {
  const { id, to } = await mailbox()
  await fill(id, 60, { author: from, proven: 'shop.example' })
  const real = () => message(from, { authenticated: 'shop.example' })

  expect(await byPlatform(world, { to, from, raw: real() })).toEqual(later)
  expect(await byPlatform(world, { to, from, raw: message() })).toEqual({ taken: true })
})

test('a mail that is here already is no other mail, when a limit is reached too', async () => {
  const { id, to } = await mailbox()
  const raw = message()
  await byPlatform(world, { to, raw })
  await fill(id, 500)

  expect(await byPlatform(world, { to, raw })).toEqual({ taken: true })
})

test.each([
  ['10,000 mails', 9_999, 1],
  ['100 MB', 99, 1_048_576],
])('a mailbox holds %s', async (_what, mails, size) => {
  const { id, to } = await mailbox()
  await fill(id, mails, { size })
  await product.tick(86_401)

  expect(await byPlatform(world, { to, raw: message() })).toEqual({ taken: true })
  await db.sql`update private.mails set room = 1048576 where account = ${id}
    and from_address = ${from}`
  expect(await byPlatform(world, { to, raw: message() })).toEqual(full)
})

test('a mail fills what is kept of it, and a text file is kept twice', async () => {
  const { id, to } = await mailbox()
  const file = 'ü'.repeat(120_000)
  const part = (type: string, content: string) => `--b\r\nContent-Type: ${type}\r\n\r\n${content}`
  const attached = 'text/plain; charset=utf-8\r\nContent-Disposition: attachment'
  const parts = [part('text/html', '<p>Hello'), part(attached, file)]
  const head = `From: ${from}\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n`
  const raw = `${head}${parts.join('\r\n')}\r\n--b--`

  await fill(id, 99, { size: 1_048_576 })
  await product.tick(86_401)

  // The mail arrives with 240 KB, so by that size three of them would fit.
  expect(await byPlatform(world, { to, raw })).toEqual({ taken: true })
  expect(await byPlatform(world, { to, raw: raw.replace('Hello', 'Again') })).toEqual(full)
})

/** Returns the same isolate with a counter of the mails that it has read. */
function countingReads() {
  const reads = { count: 0 }
  const mailReader = {
    fetch(request: Request) {
      reads.count += 1
      return world.mailReader?.fetch(request) ?? Promise.reject(new Error('no reader'))
    },
  }
  return { reads, counted: { ...world, mailReader } }
}

test('nothing but the headers is read of a mail for nobody, for a full mailbox or beyond its pace', async () => {
  const [unknown, crowded, rest] = [await mailbox(), await mailbox(), await mailbox()]
  await fill(crowded.id, 100, { size: 1_048_576 })
  await fill(rest.id, 60, { author: from })
  const { reads, counted } = countingReads()

  for (const to of [`no-${unknown.to}`, crowded.to, rest.to]) {
    expect(await byPlatform(counted, { to, raw: message() })).not.toEqual({ taken: true })
  }

  expect(reads.count).toBe(0)
  expect(await byPlatform(counted, { to: unknown.to, raw: message() })).toEqual({ taken: true })
  expect(reads.count).toBe(1)
})

test('mails that are refused once they were read are read 120 times at once, and proven ones go on', async () => {
  const { to } = await mailbox()
  const { reads, counted } = countingReads()
  const broken = (author: string) => `From: ${author}\r\n\r\n${'a\r\n'.repeat(60_001)}`
  const outcomes: unknown[] = []

  for (let n = 0; n < 130; n += 1) {
    outcomes.push(await byPlatform(counted, { to, raw: broken(`a${n}@mail.example`) }))
  }

  expect(reads.count).toBe(120)
  expect(outcomes.at(-1)).toEqual(later)
  const real = message(from, { authenticated: 'shop.example' })
  expect(await byPlatform(counted, { to, raw: real })).toEqual({ taken: true })
  await product.tick(31)
  expect(await byPlatform(counted, { to, raw: message() })).toEqual({ taken: true })
})

test('of many mails at once no more than the last place holds are kept, and none is lost', async () => {
  const { id, to } = await mailbox()
  await fill(id, 59, { author: from })
  const mails = Array.from({ length: 8 }, () => message())

  const outcomes = await Promise.all(mails.map((raw) => byPlatform(world, { to, raw })))

  expect(outcomes.filter((one) => 'taken' in one)).toHaveLength(1)
  expect(outcomes.filter((one) => 'later' in one)).toHaveLength(7)
  expect(await db.sql`select from private.mails where account = ${id}`).toHaveLength(60)
})

test('while the database cannot be reached, mail is sent again later, and is kept then', async () => {
  const { id, to } = await mailbox()
  const raw = message()
  const down = product.worker({ fetch: () => Promise.reject(new TypeError('no connection')) })

  expect(await byPlatform(down.world, { to, raw })).toEqual(unavailable)
  expect(await byPlatform(world, { to, raw })).toEqual({ taken: true })

  expect(await db.sql`select from private.mails where account = ${id}`).toHaveLength(1)
})

test('a mail whose keeping was not heard of is sent again, and is kept once', async () => {
  const { id, to } = await mailbox()
  const raw = message()
  const deaf = product.worker({
    fetch: async (input, init) => {
      const answer = await fetch(input, init)
      if (!new Request(input, init).url.endsWith('/inbound_keep')) return answer
      throw new TypeError('the answer was lost')
    },
  })

  expect(await byPlatform(deaf.world, { to, raw })).toEqual(unavailable)
  expect(await byPlatform(world, { to, raw })).toEqual({ taken: true })

  expect(await db.sql`select from private.mails where account = ${id}`).toHaveLength(1)
})

test('a frozen account goes on receiving', async () => {
  const { id, to } = await mailbox()
  await db.sql`update private.accounts set frozen_at = private.clock() where id = ${id}`

  expect(await byPlatform(world, { to, raw: message() })).toEqual({ taken: true })
})
