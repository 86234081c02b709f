/** `mailauth`, a library that shares no code with the signer, accepts the mail of this service. */
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import { startMailCatcher } from '../../scripts/local/mail.ts'
import { deliverMail } from '../../shared/mail/deliver.ts'
import { sealForOutbox } from '../../shared/mail/outbox.ts'
import { transportOf } from '../../shared/mail/transport.ts'
import { connect } from '../support/mail.ts'
import { type DkimRecord, judged } from '../support/mailauth.ts'
import { openMailbox } from '../support/mailbox.ts'
import { start } from '../support/world.ts'

const product = await start()
const catcher = await startMailCatcher()
afterAll(() => catcher.close())

const keys = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  ed25519: generateKeyPairSync('ed25519').privateKey,
}
type Kind = keyof typeof keys

function recordOf(kind: Kind, key: KeyObject = keys[kind]): DkimRecord {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' })
  // RFC 8463 section 4: for Ed25519 only the 32 bytes of the key are published.
  const published = kind === 'rsa' ? spki : spki.subarray(-32)
  const public_key = `v=DKIM1; k=${kind}; p=${published.toString('base64')}`
  return { domains: ['agents.example', 'notices.example'], selector: 's1', public_key }
}

/** Sends all waiting mail, signed with such a key. Returns the last message as it arrived. */
async function sentBy(kind: Kind, settings: Record<string, string> = {}): Promise<string> {
  const { world } = product
  const config = {
    ...world.config,
    MAIL_URL: catcher.smtpUrl,
    DKIM_SELECTOR: 's1',
    DKIM_PRIVATE_KEY: keys[kind].export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    ...settings,
  }
  await deliverMail(world, transportOf({ ...world, config }, connect))
  return catcher.caught().at(-1)?.raw ?? ''
}

async function write(): Promise<void> {
  const box = await openMailbox(product)
  await box.receive({ subject: 'Grüße 😀' })
  const { mail_id } = await box.newest()
  await box.sent({ text: `.\n\n ü \n${'long '.repeat(500)}\n`, reply_to_mail_id: mail_id })
}

test.each(['rsa', 'ed25519'] as const)('an answer that is signed by %s passes', async (kind) => {
  await write()

  const verdict = await judged(await sentBy(kind), recordOf(kind))

  expect(verdict).toMatchObject({ dkim: ['pass'], dmarc: 'pass' })
})

test('a notice is signed by its own domain, which no agent writes from', async () => {
  const { id: account } = await product.agent('pay')
  const notice = { topic: 'note', subject: 'A notice', text: 'Words.', html: '<p>Words.</p>' }
  const sealed = await sealForOutbox(product.world, { ...notice, to: 'ann@people.example' })
  await product.db.sql`select private.enqueue_mail(${account}, ${product.db.sql.json(sealed)})`

  const raw = await sentBy('rsa')

  expect(raw).toContain('From: Agent Operating Account <no-reply@notices.example>')
  expect(await judged(raw, recordOf('rsa'))).toMatchObject({ dkim: ['pass'], dmarc: 'pass' })
  const agentsAlone = { ...recordOf('rsa'), domains: ['agents.example'] }
  expect((await judged(raw, agentsAlone)).dkim).not.toContain('pass')
})

test.each([
  ['another author', 'From: ', 'From: Eve <eve@evil.example>\r\nX-Old: '],
  ['a second author', 'To: ', 'From: Eve <eve@agents.example>\r\nTo: '],
  ['another subject', 'Subject: ', 'Subject: Pay now '],
  ['another thread', 'In-Reply-To: <', 'In-Reply-To: <0'],
  ['another text', 'Content-Transfer-Encoding: base64\r\n\r\n', '$&QUFB\r\n'],
])('a mail with %s does not pass', async (_what, from, to) => {
  await write()
  const message = await sentBy('rsa')
  const changed = message.replace(from, to)

  expect(changed).not.toBe(message)
  expect((await judged(changed, recordOf('rsa'))).dkim).not.toContain('pass')
})

test('a mail that another key signed does not pass', async () => {
  await write()
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey

  expect((await judged(await sentBy('rsa'), recordOf('rsa', other))).dkim).toEqual(['fail'])
})

test('nothing is signed without a selector', async () => {
  await write()
  const plain = await sentBy('rsa', { DKIM_SELECTOR: '', DKIM_PRIVATE_KEY: 'none' })

  expect(plain).not.toContain('DKIM-Signature')
  expect(plain).toContain('From: ')
})
