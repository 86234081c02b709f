import { expect, test } from 'vitest'
import { inboundMail } from '../../functions/inbound-mail/index.ts'
import { mailLimits } from '../../shared/mailbox/receive/parse.ts'
import { type MailRefusal, mailRefusals } from '../../shared/mailbox/receive/parse-refusals.ts'
import { byPlatform, deliver, messageOf } from '../support/inbound.ts'
import { messages } from '../support/mail-corpus/messages.ts'
import { textWith } from '../support/matching.ts'
import { storedMails } from '../support/stored-mail.ts'
import { start } from '../support/world.ts'

const product = await start()
const { world, db } = product

const mailbox = async () => {
  const agent = await product.agent('read')
  return { ...agent, to: `${agent.alias}@agents.example` }
}
const from = 'Shop <shop@mail.shop.example>'
const lines = (...all: string[]) => all.join('\r\n')

test('keeps everything of a mail, with a handle for its code wherever that stands', async () => {
  const { id, to } = await mailbox()

  await deliver(world, {
    to,
    from: '"Code 482913" <Shop@mail.shop.example>',
    subject: '482913 is your code',
    text: 'Your verification code is 482913.',
    html: '<p>Your verification code is <b>482 913</b></p>',
    authenticated: 'shop.example',
    headers: { 'In-Reply-To': '<a@b.example>', 'Message-ID': '<c@b.example>' },
  })

  const [mail, ...others] = await storedMails(product, id)
  const [code, ...codes] = mail?.codes ?? []
  expect([others, codes]).toEqual([[], []])
  expect(code).toMatchObject({ kind: 'code', value: '482913', hosts: ['mail.shop.example'] })
  const place = (start: number, length = 6) => [
    { kind: 'code', start, end: start + length, handle: code?.handle },
  ]
  expect(mail?.head).toEqual({
    name: { text: 'Code 482913', places: place(5) },
    subject: { text: '482913 is your code', places: place(0) },
    address: { text: 'shop@mail.shop.example', places: [] },
  })
  expect(mail?.body).toMatchObject({
    to: [{ address: { text: to, places: [] } }],
    messageId: '<c@b.example>',
    inReplyTo: '<a@b.example>',
    text: { text: 'Your verification code is 482 913', places: place(26, 7), length: 33 },
    automatic: false,
  })
  const rows = await db.sql`select from_address, proven_domain, spf, dkim, dmarc, own_topic
    from private.mails where account = ${id}`
  expect(rows).toEqual([
    {
      from_address: 'shop@mail.shop.example',
      proven_domain: 'shop.example',
      spf: 'pass',
      dkim: 'absent',
      dmarc: 'absent',
      own_topic: null,
    },
  ])
})

test('keeps files as they came, under their names', async () => {
  const { id, to } = await mailbox()

  await byPlatform(world, { to, raw: messages[2]?.raw ?? '' })

  const [mail] = await storedMails(product, id)
  expect(mail?.body.attachments.map(({ name, type, size }) => [name.text, type, size])).toEqual([
    ['a.png', 'image/png', 10],
    ['ü.csv', 'text/csv', 11],
    ['', 'message/rfc822', 23],
  ])
  expect(mail?.files.map((bytes) => bytes.length)).toEqual([10, 11, 23])
})

test('an address has one mailbox, however it is written and whatever is added to the alias', async () => {
  const { id, alias } = await mailbox()
  const spellings = [alias.toUpperCase(), `${alias}+shop`, `${alias}+a+b`]

  for (const local of spellings) {
    const raw = messageOf({ to: 'x', from, subject: local, text: 'Hello' })
    expect(await byPlatform(world, { to: `${local}@AGENTS.example`, raw })).toEqual({ taken: true })
  }

  expect(await storedMails(product, id)).toHaveLength(3)
})

test('an unknown mailbox is refused, and so is one at another domain', async () => {
  const { alias } = await mailbox()
  const raw = messageOf({ to: 'x', from, subject: 'x', text: 'Hello' })
  const strangers = ['nobody@agents.example', `${alias}@other.example`, alias, '', `${alias}@`]

  for (const to of strangers) {
    const outcome = await byPlatform(world, { to, raw })
    expect(outcome).toEqual({ rejected: '5.1.1 There is no such mailbox here' })
  }
})

const many = (count: number, line: string) => Array.from({ length: count }, () => line)
const author = 'From: a@mail.example'
test('a mail for nobody here is refused for that alone, and is not read', async () => {
  const outcome = await byPlatform(world, { to: 'nobody-at-all@mail.example', raw: 'no mail' })

  expect(outcome).toEqual(
    await byPlatform(world, { to: 'nobody@mail.example', raw: lines(author, '', 'a') }),
  )
})

const mixed = [author, 'Content-Type: multipart/mixed; boundary=b', '']
const nested = (depth: number) =>
  Array.from({ length: depth }, (_, at) => [
    `Content-Type: multipart/mixed; boundary=b${at}`,
    '',
    `--b${at}`,
  ]).flat()
test.each<[MailRefusal, string]>([
  ['too_large', lines(author, '', 'x'.repeat(mailLimits.bytesMax))],
  ['headers_too_large', lines(author, `X: ${'x'.repeat(mailLimits.headerBytesMax)}`, '', 'a')],
  ['loop', lines(...many(51, 'Received: from a by b'), author, '', 'a')],
  ['too_deep', lines(author, ...nested(12), '', 'a')],
  ['too_many_parts', lines(...mixed, ...many(51, '--b\r\n\r\na'))],
  ['too_many_lines', lines(author, '', ...many(60_001, 'a'))],
  [
    'too_many_attachments',
    lines(...mixed, ...many(21, '--b\r\nContent-Disposition: attachment\r\n\r\nx')),
  ],
  ['no_sender', lines('To: a@mail.example', '', 'a')],
  ['several_senders', lines(author, 'From: b@mail.example', '', 'a')],
  ['no_sender', ''],
])(
  'a mail that is not taken is bounced as %s with a reason, and nothing of it stays',
  async (refused, raw) => {
    const { id, to } = await mailbox()

    const outcome = await byPlatform(world, { to, raw })

    expect(outcome).toEqual({ rejected: mailRefusals[refused].slice('550 '.length) })
    expect(mailRefusals[refused]).toMatch(/^55[024] 5\.\d\.\d [A-Z][a-zA-Z0-9 ,;]+$/)
    expect(await db.sql`select from private.mails where account = ${id}`).toHaveLength(0)
  },
)

test('a mail without end is read no further than a mailbox takes', async () => {
  const { to } = await mailbox()
  let pulled = 0
  const raw = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled += 65_536
      controller.enqueue(new Uint8Array(65_536))
    },
  })
  const rejected: string[] = []
  const setReject = (reason: string) => rejected.push(reason)

  await inboundMail(() => world).email({ from: 'a@mail.example', to, raw, setReject })

  expect(rejected).toEqual([textWith('5.3.4')])
  expect(pulled).toBeLessThan(mailLimits.bytesMax + 4 * 65_536)
})

test('50 servers may hand a mail on', async () => {
  const { to } = await mailbox()
  const raw = lines(...many(50, 'Received: from a by b'), author, '', 'a')

  expect(await byPlatform(world, { to, raw })).toEqual({ taken: true })
})

test('what comes again is kept once, whichever way it came; what only looks alike is kept', async () => {
  const { id, to } = await mailbox()
  const raw = messageOf({ to, from, subject: 'Once', text: 'Hello' })
  const unnamed = (day: number) => lines(author, `Date: ${day} Nov 2026 10:00:00 +0000`, '', 'Full')
  const all = [raw, raw, `Received: from b by c\r\n${raw}`, unnamed(1), unnamed(1), unnamed(2)]

  for (const one of all) expect(await byPlatform(world, { to, raw: one })).toEqual({ taken: true })
  const sameAtOnce = messageOf({ to, from, subject: 'At once', text: 'Hello' })
  const together = many(8, sameAtOnce).map((one) => byPlatform(world, { to, raw: one }))
  expect(new Set((await Promise.all(together)).map((one) => JSON.stringify(one))).size).toBe(1)

  expect(await storedMails(product, id)).toHaveLength(4)
  const told = await db.sql`select from private.activities where account = ${id}`
  expect(told).toHaveLength(4)
})

test('mails that open a mailbox at once share one key', async () => {
  const { id, to } = await mailbox()
  const mails = many(8, 'x').map((_, at) =>
    messageOf({ to, from, subject: `${at}`, text: 'Hello' }),
  )

  await Promise.all(mails.map((raw) => byPlatform(world, { to, raw })))

  expect(await storedMails(product, id)).toHaveLength(8)
})

test.each([
  ['Auto-Submitted: auto-replied', 'a@mail.example', true],
  ['auto-submitted: auto-generated (by a list)', 'a@mail.example', true],
  ['Auto-Submitted: no', 'a@mail.example', false],
  ['X-Other: x', '', true],
  ['X-Other: x', 'a@mail.example', false],
])(
  'a mail with %s from <%s> is marked as automatic: %s',
  async (header, envelopeFrom, automatic) => {
    const { id, to } = await mailbox()

    await byPlatform(world, { to, from: envelopeFrom, raw: lines(author, header, '', 'a') })

    const [mail] = await storedMails(product, id)
    expect(mail?.body.automatic).toBe(automatic)
  },
)

test('a mail of the account that comes back to it is a loop, and to another account it is a mail', async () => {
  const [one, other] = [await mailbox(), await mailbox()]
  const sent = world.newId()
  await db.sql`insert into private.mails (id, account, direction, from_address, digest, size,
      room, sealed_head, sealed_body)
    values (${sent}, ${one.id}, 'out', ${one.to}, ${'0'.repeat(64)}, 1, 1, '{}', '{}')`
  const raw = lines(`From: ${one.to}`, `Message-ID: <${sent}@agents.example>`, '', 'Hello')

  expect(await byPlatform(world, { to: one.to, raw })).toMatchObject({
    rejected: '5.4.6 The message goes in a circle',
  })
  expect(await byPlatform(world, { to: other.to, raw })).toEqual({ taken: true })
})

test('a text of more than 256 KB is cut before a code at the cut, and its whole length is told', async () => {
  const { id, to } = await mailbox()
  const code = 'your code is 482913'
  const text = `${'lorem '.repeat(43_688)}\n${code}\n${'ipsum '.repeat(1_000)}`
  const at = text.indexOf('482913')
  expect(at).toBeLessThan(262_144)
  expect(at + 6).toBeGreaterThan(262_144)

  await byPlatform(world, { to, raw: lines(author, '', text) })

  const [mail] = await storedMails(product, id)
  expect(mail?.body.text.text).toHaveLength(at)
  expect(mail?.body.text.length).toBeGreaterThanOrEqual(text.length)
  expect(mail?.codes.map(({ value }) => value)).toEqual(['482913'])
})

test('of a mail with more codes than anybody is sent all are sealed, and 100 can be used', async () => {
  const { id, to, ...agent } = await mailbox()
  const codes = Array.from({ length: 150 }, (_, at) => `${482_913 + 7 * at}`)
  const text = codes.map((code) => `Your verification code is ${code}.`).join('\r\n')

  await byPlatform(world, { to, raw: lines(author, '', text) })

  const [mail] = await storedMails(product, id)
  expect(mail?.codes).toHaveLength(100)
  const read = JSON.stringify(await agent.get(`/mail-read?mail_id=${mail?.id}`))
  expect(codes.filter((code) => read.includes(code))).toEqual([])
})
