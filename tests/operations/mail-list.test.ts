import { expect, test } from 'vitest'
import { mailboxOf, openMailbox } from '../support/mailbox.ts'
import { start } from '../support/world.ts'

const product = await start()
const { db } = product
const code = 'Your verification code is 482913'

test('a mail is listed with who wrote it, what proves that, and its code by handle', async () => {
  const box = await openMailbox(product)
  await box.receive({
    from: '"Shop\u202e" <shop@mail.shop.example>',
    subject: code,
    text: 'x',
    authenticated: 'shop.example',
  })

  const { mails, next_cursor } = await box.list()

  const handle = mails[0]?.codes[0]?.handle ?? ''
  const text = `Your verification code is [code ${handle}]`
  const from = 'Shop <shop@mail.shop.example>'
  expect(next_cursor).toBeNull()
  expect(mails).toMatchObject([
    {
      direction: 'in',
      from: {
        address: 'shop@mail.shop.example',
        proven_domain: 'shop.example',
        authenticated: true,
      },
      untrusted: { subject: { from, length: text.length, truncated: false, text } },
      attachment_count: 0,
      codes: [{ kind: 'code', hosts: ['mail.shop.example'], used: false }],
      unread: true,
    },
  ])
})

test('paging tells every mail once, newest first', async () => {
  const box = await openMailbox(product)
  for (let mail = 0; mail < 7; mail += 1) await box.receive({ subject: `Mail ${mail}` })

  const seen: string[] = []
  const sizes: number[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { mails, next_cursor } = await box.list({ limit: '3', ...(cursor ? { cursor } : {}) })
    seen.push(...mails.map(({ untrusted }) => untrusted.subject.text))
    sizes.push(mails.length)
    cursor = next_cursor
  }

  expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((mail) => `Mail ${mail}`))
  expect(sizes).toEqual([3, 3, 1])
})

test('mails are found by author, domain, time, direction and what is unread', async () => {
  const box = await openMailbox(product)
  const subjects = async (query: Record<string, string>) =>
    (await box.list(query)).mails.map(({ untrusted }) => untrusted.subject.text)
  await box.receive({ from: 'a@shop.example', subject: 'one' })
  await product.tick(1)
  await box.receive({ from: 'B@mail.Shop.example', subject: 'two' })
  await box.receive({ from: 'a@workshop.example', subject: 'three' })
  await box.sent({ to: ['ann@people.example'], subject: 'four', text: 'x' })
  const { mails } = await box.list()
  const [, , second, first] = mails
  await box.read(first?.mail_id ?? '')

  expect(await subjects({ from: 'shop.example' })).toEqual(['two', 'one'])
  expect(await subjects({ from: '@SHOP.example' })).toEqual(['two', 'one'])
  expect(await subjects({ from: 'b@mail.shop.example' })).toEqual(['two'])
  expect(await subjects({ from: '%%%' })).toEqual([])
  expect(await subjects({ direction: 'out' })).toEqual(['four'])
  expect(await subjects({ direction: 'in' })).toEqual(['three', 'two', 'one'])
  expect(await subjects({ unread: 'true' })).toEqual(['three', 'two'])
  expect(await subjects({ until: second?.at ?? '' })).toEqual(['one'])
  expect(await subjects({ since: second?.at ?? '' })).toEqual(['four', 'three', 'two'])
})

test('words of a subject find it, whatever their case and order', async () => {
  const box = await openMailbox(product)
  await box.receive({ subject: 'Rechnung für Müller' })
  await box.receive({ subject: 'Something else' })

  for (const subject of ['MÜLLER rechnung', 'für']) {
    expect((await box.list({ subject })).mails, subject).toHaveLength(1)
  }
  expect((await box.list({ subject: 'Rechnung else' })).mails).toEqual([])
})

test('a search for a code finds nothing, so that nobody can guess it piece by piece', async () => {
  const box = await openMailbox(product)
  await box.receive({ subject: code })
  const search = async (subject: string) => (await box.list({ subject })).mails.length

  const before = [await search('482913'), await search('48'), await search('verification')]
  await db.sql`update private.accounts set shows_codes = true where id = ${box.agent.id}`

  expect(before).toEqual([0, 0, 1])
  expect(await search('482913')).toBe(1)
})

test('a search looks through 100 mails and tells where it goes on', async () => {
  const box = await openMailbox(product)
  await box.receive({ subject: 'needle' })
  for (let mail = 0; mail < 101; mail += 1) await box.receive({ from: `a${mail % 5}@b.example` })

  const first = await box.list({ subject: 'needle' })
  const second = await box.list({ subject: 'needle', cursor: first.next_cursor ?? '' })

  expect(first.mails).toEqual([])
  expect(second).toMatchObject({ mails: [{ from: {} }], next_cursor: null })
})

test("nothing of another account's mail is told", async () => {
  const [box, other] = [await openMailbox(product), await openMailbox(product)]
  await other.receive()

  expect(await box.list()).toEqual({ mails: [], next_cursor: null })
})

test('a key that may only read lists mail, also of a frozen account', async () => {
  const box = await openMailbox(product)
  await box.receive()
  const reader = mailboxOf(product, await box.agent.withKey('read'))
  await box.agent.post('/account-freeze', {})

  expect((await reader.list()).mails).toHaveLength(1)
})
