import { expect, test } from 'vitest'
import { mailWait } from '../../functions/mail-wait/contract.ts'
import { functionsIn } from '../support/functions.ts'
import { openMailbox, type TestMailbox } from '../support/mailbox.ts'
import { openProduct } from '../support/product.ts'
import { start } from '../support/world.ts'

const product = await start()
const { db } = product

/** Returns a wait whose pauses run `during`. Each pause moves the clock and ends when `during` has. */
function waiting({ agent }: TestMailbox, during: (pause: number) => Promise<unknown> | void) {
  let pauses = 0
  let moved = 0
  const held = openProduct(product.bindings, {
    log: () => {},
    now: () => new Date(Date.now() + moved),
    pause: async (milliseconds) => {
      moved += milliseconds
      await during(pauses)
      pauses += 1
    },
  })
  const functions = functionsIn(held)
  return async (query: Record<string, string> = {}) => {
    const path = `http://aoa/mail-wait?${new URLSearchParams(query).toString()}`
    const headers = { authorization: `Bearer ${agent.key}` }
    const answer = await functions.get('mail-wait')?.fetch(new Request(path, { headers }))
    const { mail } = mailWait.response.parse(await answer?.json())
    return { mail, pauses }
  }
}

const minuteAgo = () => new Date(Date.now() - 60_000).toISOString()

test('answers a mail that comes in while it waits, within a second', async () => {
  const box = await openMailbox(product)
  const wait = waiting(box, (pause) => (pause === 2 ? box.receive({ subject: 'now' }) : undefined))

  const { mail, pauses } = await wait()

  expect(mail).toMatchObject({ untrusted: { subject: { text: 'now' } }, unread: true })
  expect(pauses).toBe(3)
})

test('answers at once what came before it but after the time that is asked for', async () => {
  const box = await openMailbox(product)
  await box.receive({ subject: 'one' })
  await box.receive({ subject: 'two' })

  const { mail, pauses } = await waiting(box, () => {})({ since: minuteAgo() })

  expect([mail?.untrusted.subject.text, pauses]).toEqual(['one', 0])
})

test('answers nothing that came before where no time is asked for, and ends in time', async () => {
  const box = await openMailbox(product)
  await box.receive()

  expect(await waiting(box, () => {})()).toEqual({ mail: null, pauses: 25 })
  expect(await waiting(box, () => {})({ timeout_seconds: '3' })).toEqual({ mail: null, pauses: 3 })
  expect(await waiting(box, () => {})({ timeout_seconds: '0' })).toEqual({ mail: null, pauses: 0 })
})

test('answers the mail that matches, however many come beside it', async () => {
  const box = await openMailbox(product)
  const wait = waiting(box, async (pause) => {
    if (pause > 0) return
    for (let mail = 0; mail < 30; mail += 1) await box.receive({ from: 'a@other.example' })
    await box.receive({ from: 'a@shop.example', subject: 'News' })
    await box.receive({ from: 'a@shop.example', subject: 'Your verification code is 482913' })
  })

  const found = await wait({ from: 'shop.example', subject: 'verification CODE' })
  const { mail } = await waiting(box, () => {})({ subject: 'code', since: minuteAgo() })

  expect(found.mail?.untrusted.subject.text).toMatch(/^Your verification code is \[code c_\w+\]$/)
  expect(mail?.mail_id).toBe(found.mail?.mail_id)
})

test('misses no mail of many that come at once between its looks', async () => {
  const box = await openMailbox(product)
  const come = (pause: number) => {
    const authors = Array.from({ length: 9 }, (_, author) => `a${author}@b${pause}.example`)
    return Promise.all(authors.map((from) => box.receive({ from, subject: `from ${from}` })))
  }

  for (const wanted of ['a8@b0.example', 'a0@b2.example', 'a5@b1.example']) {
    expect((await waiting(box, come)({ from: wanted })).mail?.from.address).toBe(wanted)
  }
})

test('looks back a day at most', async () => {
  const box = await openMailbox(product)
  await box.receive()
  await db.sql`update private.mails set at = at - interval '25 hours'
    where account = ${box.agent.id}`

  const { mail } = await waiting(box, () => {})({
    since: '2020-01-01T00:00:00Z',
    timeout_seconds: '0',
  })

  expect(mail).toBeNull()
})

test("does not answer to another account's mail", async () => {
  const [box, other] = [await openMailbox(product), await openMailbox(product)]

  const { mail } = await waiting(box, () => other.receive())({ timeout_seconds: '2' })

  expect(mail).toBeNull()
})

test('takes one request of the rate, however often it looks', async () => {
  const box = await openMailbox(product)
  await db.sql`update private.credentials set burst = 2, per_second = 1
    where account = ${box.agent.id}`

  expect(await waiting(box, () => {})()).toMatchObject({ mail: null, pauses: 25 })
})

test('ends when the key is revoked', async () => {
  const box = await openMailbox(product)
  const revoke = () => db.sql`update private.credentials set revoked_at = private.clock()
    where account = ${box.agent.id}`

  await expect(waiting(box, revoke)()).rejects.toThrow('mail')
})

test('goes on for a frozen account', async () => {
  const box = await openMailbox(product)
  await box.agent.post('/account-freeze', {})

  const { mail } = await waiting(box, () => box.receive())()

  expect(mail).not.toBeNull()
})

/** Opens workers of one isolate whose seconds the test passes. Records their database calls. */
function openIsolate() {
  const asked: string[] = []
  const sleepers: (() => void)[] = []
  const began = product.world.now().getTime()
  let moved = 0
  let waiting = 0
  const held = openProduct(product.bindings, {
    log: () => {},
    now: () => new Date(began + moved),
    pause: () => new Promise((resolve) => sleepers.push(resolve)),
    fetch: (input, init) => {
      asked.push(
        new URL(new Request(input, { method: 'HEAD' }).url).pathname.split('/').at(-1) ?? '',
      )
      return fetch(input, init)
    },
  })
  const functions = functionsIn(held)
  return {
    wait: async ({ agent }: TestMailbox) => {
      waiting += 1
      const headers = { authorization: `Bearer ${agent.key}` }
      const request = new Request('http://aoa/mail-wait', { headers })
      const answer = await functions.get('mail-wait')?.fetch(request)
      waiting -= 1
      return mailWait.response.parse(await answer?.json()).mail?.untrusted.subject.text
    },
    /** Passes one second: waits until all waiters are asleep, then wakes them. */
    async second(): Promise<void> {
      await expect.poll(() => sleepers.length === waiting).toBe(true)
      moved += 1_000
      for (const wake of sleepers.splice(0)) wake()
    },
    count: (name: string) => asked.filter((one) => one === name).length,
  }
}

test('however many wait, the database is asked once a second for all, and once more for who has a mail', async () => {
  const boxes = await Promise.all(Array.from({ length: 20 }, () => openMailbox(product)))
  const [lucky] = boxes
  if (!lucky) throw new Error('nobody waits')
  const isolate = openIsolate()

  const waits = boxes.map((box) => isolate.wait(box))
  for (let second = 1; second <= 25; second += 1) {
    if (second === 6) await lucky.receive({ subject: 'for one' })
    await isolate.second()
  }

  const heard = await Promise.all(waits)
  expect(heard.filter((subject) => subject !== undefined)).toEqual(['for one'])
  expect(isolate.count('mails_after')).toBe(21)
  expect(isolate.count('newest_mails')).toBe(25)
})
