import { expect, test } from 'vitest'
import { mimeMessage } from '../../shared/mail/mime.ts'
import { idsToName } from '../../shared/mailbox/read/news.ts'
import { replyTo } from '../../shared/mailbox/read/thread.ts'
import { parseMail } from '../../shared/mailbox/receive/parse.ts'

const mail = {
  subject: 'Hi',
  messageId: '<c@x>',
  inReplyTo: '<b@x>',
  references: ['<a@x>', '<b@x>'],
}

test('names the mail that it answers, and all before it', () => {
  expect(replyTo(mail)).toEqual({
    subject: 'Re: Hi',
    headers: { 'In-Reply-To': '<c@x>', References: '<a@x>\r\n <b@x>\r\n <c@x>' },
  })
})

test('takes the parent for the thread where a mail names no other', () => {
  expect(replyTo({ ...mail, references: [] }).headers.References).toBe('<b@x>\r\n <c@x>')
  expect(replyTo({ ...mail, references: [], inReplyTo: undefined }).headers.References).toBe(
    '<c@x>',
  )
})

test('keeps the first and the last of a long thread', () => {
  const references = Array.from({ length: 99 }, (_, at) => `<${at}@x>`)
  const ids = replyTo({ ...mail, references }).headers.References?.split('\r\n ') ?? []

  expect(ids).toHaveLength(30)
  expect([ids[0], ids.at(-2), ids.at(-1)]).toEqual(['<0@x>', '<98@x>', '<c@x>'])
})

test.each([undefined, '', '<a b>', '<a>\r\nBcc: x', '<ü@x>', `<${'a'.repeat(999)}>`, '<a><b>'])(
  'does not thread under %s',
  (messageId) => {
    expect(replyTo({ ...mail, messageId }).headers).toEqual({})
    expect(replyTo({ ...mail, references: [messageId ?? ''] }).headers.References).toBe('<c@x>')
  },
)

test.each([
  ['Re: Hi', 'Re: Hi'],
  ['RE: re: AW: Hi', 'Re: Hi'],
  ['Re[4]: Hi', 'Re: Hi'],
  ['回复：Hi', 'Re: Hi'],
  ['Отв: Hi', 'Re: Hi'],
  ['Reset: Hi', 'Re: Reset: Hi'],
  ['Fwd: Hi', 'Re: Fwd: Hi'],
  ['Hi\r\nBcc: x\u202e', 'Re: Hi Bcc: x'],
  ['', 'Re:'],
])('answers %j with one Re:', (subject, answer) => {
  expect(replyTo({ ...mail, subject }).subject).toBe(answer)
})

test('a reply arrives in the thread', async () => {
  const out = {
    id: 'i',
    from: 'b@y.example',
    to: 'a@x.example',
    text: 'a',
    html: 'a',
    createdAt: new Date(0),
  }
  const message = mimeMessage({ ...out, ...replyTo(mail) }, 'y.example')

  const read = await parseMail(new TextEncoder().encode(message))

  expect(read).toMatchObject({
    inReplyTo: '<c@x>',
    references: ['<a@x>', '<b@x>', '<c@x>'],
    subject: 'Re: Hi',
  })
})

const domain = 'agents.example'
const own = '<01980000-0000-7000-8000-000000482913@agents.example>'

const ids = { messageId: '<c@x>', inReplyTo: '<b@x>', references: ['<a@x>', own] }

test('names all ids to those who had the mail', () => {
  expect(idsToName(ids, { domain, isToOthers: false })).toEqual(ids)
})

test('names to others only the ids of this service', () => {
  expect(idsToName(ids, { domain, isToOthers: true })).toEqual({
    messageId: undefined,
    inReplyTo: undefined,
    references: [own],
  })
  expect(idsToName({ ...ids, messageId: own }, { domain, isToOthers: true }).messageId).toBe(own)
})
