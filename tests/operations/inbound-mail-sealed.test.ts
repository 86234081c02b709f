import { expect, test } from 'vitest'
import * as z from 'zod'
import { byPlatform, byWebhook, deliver } from '../support/inbound.ts'
import { bare, mails } from '../support/mail-corpus/mails.ts'
import { storedMails } from '../support/stored-mail.ts'
import { start } from '../support/world.ts'

const product = await start()
const { world, db } = product

const mailbox = async () => {
  const agent = await product.agent('read')
  return { ...agent, to: `${agent.alias}@agents.example` }
}

/** Canaries for every part of a mail, except the addresses of its sender and recipient. */
const canaries = {
  name: 'canaryName',
  recipient: 'canaryRecipient',
  subject: 'canarySubject',
  messageId: 'canaryMessageId',
  answered: 'canaryAnswered',
  text: 'canaryText',
  html: 'canaryHtml',
  code: '70418253',
  link: 'canaryLinkToken',
  fileName: 'canaryFileName',
  file: 'canaryFile',
}
const canaryMail = `From: ${canaries.name} <bird@mail.example>\r
To: ${canaries.recipient} <cage@mail.example>\r
Subject: ${canaries.subject}\r
Message-ID: <${canaries.messageId}@mail.example>\r
In-Reply-To: <${canaries.answered}@mail.example>\r
X-Other: ${canaries.name}\r
Content-Type: multipart/mixed; boundary=b\r
\r
--b\r
\r
${canaries.text}\r
Your verification code is ${canaries.code}\r
Sign in: https://mail.example/login?token=${canaries.link}\r
--b\r
Content-Type: text/html\r
\r
<p>${canaries.html}</p>\r
--b\r
Content-Type: text/plain; name=${canaries.fileName}\r
Content-Disposition: attachment; filename=${canaries.fileName}\r
\r
${canaries.file}\r
--b--\r
`

/** Returns every row of the database as text. */
async function everyRow(): Promise<string> {
  const names = await db.sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'private'`
  const tables = names.map(({ name }) =>
    db.sql.unsafe(`select to_jsonb(t)::text as row from private.${name} t`),
  )
  return JSON.stringify(await Promise.all(tables))
}

/** Returns the canaries that a text holds, in plain form or in any encoding of their bytes. */
function heldIn(text: string): string[] {
  const bytesOf = (word: string) => Buffer.from(word)
  const inner = (word: string, shift: number) =>
    Buffer.concat([Buffer.alloc(shift), bytesOf(word)])
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4)
  const forms = (word: string) => [
    word,
    bytesOf(word).toString('hex'),
    ...[0, 1, 2].map((shift) => inner(word, shift)),
  ]
  return Object.values(canaries).filter((word) => forms(word).some((form) => text.includes(form)))
}

test('nothing of a mail lies open in the database or is told in logs, answers and errors', async () => {
  const { id, to } = await mailbox()
  const answers: unknown[] = []
  const encoded = Buffer.from(canaryMail).toString('base64')
  const body = { mail_from: 'bird@mail.example', rcpt_to: to, raw_base64: encoded }
  const broken = product.worker({ fetch: () => Promise.reject(new Error('down')) })

  answers.push(await byPlatform(world, { to, raw: canaryMail }))
  answers.push(await byWebhook(world, body))
  answers.push(await byPlatform(broken.world, { to, raw: canaryMail }))
  answers.push(await byWebhook(broken.world, body))
  answers.push(await byPlatform(world, { to: 'nobody@agents.example', raw: canaryMail }))
  answers.push(await byPlatform(world, { to, raw: `From: x@y.example\r\n${canaryMail}` }))

  const [mail, ...others] = await storedMails(product, id)
  expect(others).toEqual([])
  expect(heldIn(JSON.stringify([mail, Buffer.from(mail?.files[0] ?? []).toString()]))).toEqual(
    Object.values(canaries),
  )
  expect(heldIn(await everyRow())).toEqual([])
  expect(heldIn(JSON.stringify([answers, product.log]))).toEqual([])
})

test('the feed says who wrote and no more', async () => {
  const { to, ...agent } = await mailbox()
  await byPlatform(world, { to, raw: canaryMail })

  const { body } = await agent.get('/wallet-activity-list')

  expect(body['items']).toMatchObject([
    {
      category: 'mail',
      type: 'mail_received',
      summary: 'A mail arrived.',
      untrusted: { from: 'bird@mail.example' },
    },
  ])
  expect(heldIn(JSON.stringify(body))).toEqual([])
})

test('what names a mail that comes again is nothing to try codes on without a key', async () => {
  const other = { ...world.config, INBOUND_MAIL_SECRET: Buffer.alloc(32, 8).toString('base64') }
  const digests: unknown[] = []
  for (const isolate of [world, world, { ...world, config: other }]) {
    const { id, to } = await mailbox()
    await byPlatform(isolate, { to, raw: canaryMail })
    const [row] = await db.sql<{ digest: string }[]>`
      select digest from private.mails where account = ${id}`
    digests.push(row?.digest)
  }

  expect(digests[1]).toBe(digests[0])
  expect(digests[2]).not.toBe(digests[0])
})

const listed = z.array(z.object({ mail_id: z.string() }))

test('what an agent is told of mails in twelve languages holds none of their codes and links', async () => {
  const told: string[] = []
  const { to, ...agent } = await mailbox()
  const sample = mails.filter(({ others }) => others).filter((_, at) => at % 4 === 0)
  for (const [at, { subject, text = '', html, secrets }] of sample.entries()) {
    const letter = { to, from: `shop${at}@shop.example`, subject, text, ...(html && { html }) }
    await deliver(world, letter)
    const list = await agent.get('/mail-list?limit=1')
    const [mail] = listed.parse(list.body['mails'])
    const whole = await agent.get(`/mail-read?mail_id=${mail?.mail_id}`)
    expect([list.status, whole.status]).toEqual([200, 200])
    const seen = bare(JSON.stringify([list.body['mails'], whole.body]))
    told.push(...secrets.flatMap(([, one]) => (seen.includes(bare(one)) ? [one] : [])))
  }

  expect(new Set(sample.map(({ language }) => language)).size).toBe(12)
  expect(sample.flatMap(({ secrets }) => secrets).length).toBeGreaterThan(30)
  expect(told).toEqual([])
})
