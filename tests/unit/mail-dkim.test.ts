import { KeyObject } from 'node:crypto'
import { expect, test } from 'vitest'
import { signDkim } from '../../shared/mail/dkim.ts'
import { mimeMessage } from '../../shared/mail/mime.ts'
import { replyTo } from '../../shared/mailbox/read/thread.ts'
import { dkimProblem } from '../support/dkim-verify.ts'

const at = new Date('2026-11-22T12:00:00Z')
const uses: ('sign' | 'verify')[] = ['sign', 'verify']
const rsa = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: Uint8Array.of(1, 0, 1),
  hash: 'SHA-256',
}
const pairs = {
  rsa: await crypto.subtle.generateKey(rsa, true, uses),
  ed25519: await ed25519Pair(),
}

async function ed25519Pair() {
  const pair = await crypto.subtle.generateKey('Ed25519', true, uses)
  if (!('privateKey' in pair)) throw new Error('Ed25519 has a pair of keys')
  return pair
}

const reply = replyTo({
  subject: 'Grüße',
  messageId: '<4@mail.example>',
  inReplyTo: undefined,
  references: Array.from({ length: 9 }, (_, id) => `<a-rather-long-${id}@mail.example>`),
})
const message = mimeMessage(
  {
    id: '8f1f9f0e-0000-4000-8000-000000000000',
    from: 'Agent <bob@agents.example>',
    to: 'ada@mail.example',
    text: 'Hello \t ü \r\n\r\n',
    html: '<p>Hello</p>',
    createdAt: at,
    ...reply,
  },
  'agents.example',
)

async function signedBy(kind: keyof typeof pairs, text = message) {
  const { privateKey, publicKey } = pairs[kind]
  const key = { domain: 'agents.example', selector: 's1', privateKey }
  return { signed: await signDkim(text, key, at), publicKey: KeyObject.from(publicKey) }
}

test.each(['rsa', 'ed25519'] as const)('a reply that is signed by %s holds', async (kind) => {
  const { signed, publicKey } = await signedBy(kind)

  expect(dkimProblem(signed, publicKey)).toBeUndefined()
  expect(signed.endsWith(message)).toBe(true)
  expect(signed).toMatch(new RegExp(`^DKIM-Signature: v=1; a=${kind}-sha256; c=relaxed/relaxed;`))
  const own = signed.slice(0, -message.length).split('\r\n')
  expect(own.filter((line) => line.length > 78)).toEqual([])
})

test.each([
  ['empty', ''],
  ['only of empty lines', '\r\n\r\n'],
  ['of spaces, tabs and odd spaces', ' a \t b\u00a0\r\n \r\n\t\r\nc'],
])('a body holds that is %s', async (_what, body) => {
  const { signed, publicKey } = await signedBy(
    'rsa',
    `From: \t a@b.example \r\n\t x\r\n\r\n${body}`,
  )

  expect(dkimProblem(signed, publicKey)).toBeUndefined()
})

test.each([
  ['another author', 'From: Agent <bob@', 'From: Agent <eve@'],
  ['a second author', '\r\nFrom: ', '\r\nFrom: eve@evil.example\r\nFrom: '],
  ['a second author below', '\r\n\r\n--mail', '\r\nFrom: eve@evil.example\r\n\r\n--mail'],
  ['another subject', 'Subject: ', 'Subject: x'],
  ['a reply to somebody else', '\r\nTo: ', '\r\nReply-To: eve@evil.example\r\nTo: '],
  ['another thread', 'In-Reply-To: <4', 'In-Reply-To: <5'],
  ['another body', 'SGVsbG8', 'SGVsbG9'],
  ['another type', 'Content-Type: multipart/alternative', 'Content-Type: text/plain'],
])('the signature breaks with %s', async (_what, from, to) => {
  const { signed, publicKey } = await signedBy('rsa')
  const changed = signed.replace(from, to)

  expect(changed).not.toBe(signed)
  expect(dkimProblem(changed, publicKey)).toBeDefined()
})

test('the signature holds when a server folds headers anew or adds its own', async () => {
  const { signed, publicKey } = await signedBy('ed25519')
  const changed = signed.replace('To: ada', 'to:\r\n\tada').replace(/^/, 'Received: by x\r\n')

  expect(dkimProblem(changed, publicKey)).toBeUndefined()
})

test('refuses what is no message', async () => {
  await expect(signedBy('rsa', 'To: a@b.example\r\n\r\nx')).rejects.toThrow('From')
  await expect(signedBy('rsa', 'From: a@b.example')).rejects.toThrow('empty line')
})
