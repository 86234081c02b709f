/** Mail to agents by SMTP: a known recipient is asked for first, and who sent it is found out, not believed. */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTransport, type Transporter } from 'nodemailer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inboundMail } from '../../functions/inbound-mail/index.ts'
import { mailList } from '../../functions/mail-list/contract.ts'
import { newDkimKey } from '../../scripts/local/secrets.ts'
import { admitPerMinute } from '../../scripts/serve/door/per-minute.ts'
import { type MailIn, startMailIn } from '../../scripts/serve/mail-in.ts'
import { trialCertificate } from '../support/certificate.ts'
import { type Agent, inboundMailSecret, mailDomain, start } from '../support/world.ts'

const world = await start()
const der = Buffer.from(newDkimKey(), 'base64')
const dkimKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
const published = createPublicKey(dkimKey).export({ format: 'der', type: 'spki' })
const records = new Map([
  ['shop.example', 'v=spf1 ip4:127.0.0.1 -all'],
  ['bank.example', 'v=spf1 -all'],
  ['_dmarc.shop.example', 'v=DMARC1; p=reject'],
  ['_dmarc.bank.example', 'v=DMARC1; p=reject'],
  ['s1._domainkey.shop.example', `v=DKIM1; k=rsa; p=${published.toString('base64')}`],
])

/** Answers as a DNS that has these records and nothing else. */
async function resolver(name: string, type: string): Promise<string[][]> {
  const record = records.get(name)
  if (type === 'TXT' && record !== undefined) return [[record]]
  throw Object.assign(new Error(`no ${type} of ${name}`), { code: 'ENOTFOUND' })
}

const directory = mkdtempSync(join(tmpdir(), 'aoa-mail-in-'))
let mailIn: MailIn
let agent: Agent
beforeAll(async () => {
  agent = await world.agent('read')
  const receiving = inboundMail(() => world.world)
  mailIn = await startMailIn({
    port: 0,
    server: `mx.${mailDomain}`,
    inbound: {
      domain: mailDomain,
      url: 'http://aoa/inbound-mail',
      secret: inboundMailSecret,
      send: (request) => receiving.fetch(request),
    },
    tls: await trialCertificate(directory),
    perMinute: 30,
    resolver,
  })
})
afterAll(async () => {
  await mailIn.stop()
  rmSync(directory, { recursive: true })
})

function client(more: object = {}): Transporter {
  const tls = { rejectUnauthorized: false }
  return createTransport({ host: '127.0.0.1', port: mailIn.port, requireTLS: true, tls, ...more })
}

/** Returns whether the mail with a subject is proven to be from its author. */
async function isProven(subject: string): Promise<boolean | undefined> {
  const { mails } = mailList.response.parse((await agent.get('/mail-list')).body)
  return mails.find(({ untrusted }) => untrusted.subject?.text === subject)?.from.authenticated
}

const signing = {
  dkim: {
    domainName: 'shop.example',
    keySelector: 's1',
    privateKey: dkimKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  },
}

test.each([
  ['sent from an address of its domain', 'ann@shop.example', 'ann@shop.example', {}, true],
  ['signed by its domain', 'ann@shop.example', 'bounces@bank.example', signing, true],
  ['in the name of another domain', 'ann@bank.example', 'ann@shop.example', {}, false],
  ['signed by another domain', 'ann@bank.example', 'bounces@bank.example', signing, false],
])(
  'a mail %s: its author is proven as that says',
  async (subject, author, sender, more, proven) => {
    const to = `${agent.alias}@${mailDomain}`
    const forged = `mx.${mailDomain}; spf=pass smtp.mailfrom=bank.example`

    await client(more).sendMail({
      envelope: { from: sender, to },
      from: author,
      to,
      subject,
      text: 'Hello',
      headers: { 'Authentication-Results': forged },
    })

    expect(await isProven(subject)).toBe(proven)
  },
)

async function replyTo(mail: object): Promise<unknown> {
  return client()
    .sendMail({ from: 'ann@shop.example', subject: 'No', text: 'x', ...mail })
    .catch((error: unknown) => error)
}

test('an unknown recipient is refused before the mail is sent, and a mail over the limit', async () => {
  const nobody = await replyTo({ to: `nobody@${mailDomain}` })
  const elsewhere = await replyTo({ to: 'ann@shop.example' })
  const large = await replyTo({ to: `${agent.alias}@${mailDomain}`, text: 'x'.repeat(1_100_000) })

  expect(nobody).toMatchObject({ responseCode: 550, command: 'RCPT TO' })
  expect(elsewhere).toMatchObject({ responseCode: 550, command: 'RCPT TO' })
  expect(large).toMatchObject({ responseCode: 552 })
})

test('an address that comes too often in a minute is told to come later', async () => {
  const to = Array.from({ length: 40 }, (_, nth) => `nobody-${nth}@${mailDomain}`)

  expect(await replyTo({ to })).toMatchObject({ responseCode: 450 })
})

test('addresses share their limit exactly if the limits of the database count them as one client', async () => {
  const seen =
    '2001:db8::1 2001:db8::2:1 2001:db8:0:0:5::1 2001:db8:1:: 2001:db8:0:1:2:3:4:5 ::1 ::2 1:2::3:4:5:6:7 ' +
    '1:2:0:3:4::1 fe80::1 203.0.113.7 203.0.113.8'
  const addresses = seen.split(' ')

  for (const one of addresses) {
    for (const other of addresses) {
      const admit = admitPerMinute(1)
      const [row] = await world.db.sql`
        select private.network_of(${one}) = private.network_of(${other}) as same`
      expect([one, other, admit(one), !admit(other)]).toEqual([one, other, true, row?.['same']])
    }
  }
})
