import { expect, test } from 'vitest'
import { messageOf } from '../support/inbound.ts'
import { openMailbox } from '../support/mailbox.ts'
import { ownerOf } from '../support/owner.ts'
import { randomBytes } from '../support/seed.ts'
import { start } from '../support/world.ts'

const product = await start()
const { world } = product
const code = '482913'
const text = `Your verification code is ${code}.`

test('files are listed by number, and their names are words of a stranger', async () => {
  const box = await openMailbox(product)
  const filename = `Code ${code}\u202e.txt`
  await box.receiveFiles({ subject: 'Hello', text }, [{ filename, content: 'x' }])

  const mail = await box.newest()

  const name = mail.attachments[0]?.untrusted.name.text
  expect(mail.attachments).toMatchObject([{ number: 1, type: 'text/plain', size: 1 }])
  expect(name).toMatch(/^Code \[code c_\w+\]\.txt$/)
})

test.each(['code.txt', 'code.html', 'code.csv', 'code.bin', 'code'])(
  'the code in a text that is called %s is not told',
  async (filename) => {
    const box = await openMailbox(product)
    await box.receiveFiles({ subject: 'Hello' }, [{ filename, content: text }])

    const mail = await box.newest()
    const opened = await box.read(mail.mail_id, { attachment: '1' })

    expect(opened.untrusted.attachment?.text).toMatch(
      /^Your verification code is \[code c_\w+, 6 digits\]\.$/,
    )
    expect(JSON.stringify(opened)).not.toContain(code)
    expect(opened.content_base64).toBeUndefined()
  },
)

test('text of an unknown kind and in another charset is text all the same', async () => {
  const box = await openMailbox(product)
  const content = Buffer.from(`\u00fc ${text}`, 'latin1')
  const file = { filename: 'code', content, contentType: 'text/x-unknown; charset=iso-8859-1' }
  await box.receiveFiles({ subject: 'Hello' }, [file])
  const { mail_id, attachments } = await box.newest()

  const opened = await box.read(mail_id, { attachment: '1' })

  expect(attachments).toMatchObject([{ type: 'text/plain' }])
  expect(opened.untrusted.attachment?.text).toMatch(
    /^\u00fc Your verification code is \[code c_\w+, 6 digits\]\.$/,
  )
})

test('the code in a table that a spreadsheet wrote as UTF-16 is not told', async () => {
  const box = await openMailbox(product)
  const content = Buffer.from(`\ufeff${text}`, 'utf16le')
  await box.receiveFiles({ subject: 'Hello' }, [{ filename: 'a.csv', content }])
  const { mail_id } = await box.newest()

  const opened = await box.read(mail_id, { attachment: '1' })

  expect(opened.untrusted.attachment?.text).toMatch(
    /^Your verification code is \[code c_\w+, 6 digits\]\.$/,
  )
})

test('a file of bytes that happen to be UTF-8 is read as it is', async () => {
  const box = await openMailbox(product)
  const content = Buffer.from('\u0001\u0002 not a text \u0003')
  await box.receiveFiles({ subject: 'Hello' }, [{ filename: 'a.bin', content }])
  const { mail_id } = await box.newest()

  const opened = await box.read(mail_id, { attachment: '1' })

  expect(opened.content_base64).toBe(content.toString('base64'))
})

test('a file of bytes is read in pages that join', async () => {
  const box = await openMailbox(product)
  const content = randomBytes(250_000)
  await box.receiveFiles({ subject: 'Hello' }, [{ filename: 'a.pdf', content }])
  const { mail_id } = await box.newest()

  let joined = ''
  let pages = 0
  for (let offset: number | null = 0; offset !== null; pages += 1) {
    const page: Awaited<ReturnType<typeof box.read>> = await box.read(mail_id, {
      attachment: '1',
      offset: String(offset),
    })
    joined += page.content_base64 ?? ''
    offset = page.next_offset
  }

  expect(pages).toBe(3)
  expect(joined === content.toString('base64')).toBe(true)
})

test('a mail within the mail is opened by the owner alone', async () => {
  const box = await openMailbox(product)
  const from = 'shop@shop.example'
  const content = messageOf({ to: box.address, from, subject: 'Your code', text })
  await box.receiveFiles({ subject: 'Forwarded' }, [{ filename: 'forwarded.eml', content }])
  const mail = await box.newest()
  const { credential } = await ownerOf(product, box.agent)
  const question = { mail: mail.mail_id, attachment: 1, offset: 0 }

  const agents = await box.agent.get(`/mail-read?mail_id=${mail.mail_id}&attachment=1`)
  const owners = await world.vault?.readMail(credential, question)

  expect(mail.attachments).toMatchObject([{ type: 'message/rfc822', withheld: true }])
  expect(agents).toMatchObject({ status: 404, body: { error: 'mail_not_found' } })
  expect(JSON.stringify(agents.body)).not.toContain(code)
  const file = owners && 'file' in owners ? owners.file : undefined
  expect(new TextDecoder().decode(file?.content)).toContain(code)
})

const encoded = [
  'Here is what came in:',
  '',
  'Content-Transfer-Encoding: base64',
  '',
  Buffer.from(text).toString('base64'),
].join('\r\n')
test.each([
  ['log.txt', encoded, 'text/plain'],
  ['folded.txt', encoded.replace(': base64', ':\r\n base64'), 'text/plain'],
  ['forwarded.eml.', 'anything', 'application/octet-stream'],
  ['Code.msg', 'anything', 'application/octet-stream'],
  ['smime.p7m', 'anything', 'application/pkcs7-mime'],
  ['a', 'anything', 'message/x'],
  ['code.rtf', '{\\rtf1 Your code is {\\b 482}{\\i 913}.}', 'application/rtf'],
])('what codes cannot be found in is withheld: %s', async (filename, content, contentType) => {
  const box = await openMailbox(product)
  await box.receiveFiles({ subject: 'Hello' }, [{ filename, content, contentType }])
  const mail = await box.newest()

  const answer = await box.agent.get(`/mail-read?mail_id=${mail.mail_id}&attachment=1`)

  expect(mail.attachments).toMatchObject([{ withheld: true }])
  expect(answer).toMatchObject({ status: 404, body: { error: 'mail_not_found' } })
})

test.each([
  ['To do: the roof\nFrom: Monday on\n\nA list.', 'list.txt'],
  ['name,code\nada,1', 'a.csv'],
])('a text that is no mail is shown: %j', async (content, filename) => {
  const box = await openMailbox(product)
  await box.receiveFiles({ subject: 'Hello' }, [{ filename, content }])
  const mail = await box.newest()

  expect(mail.attachments).toMatchObject([{ withheld: false }])
})

test('a file that the mail has not is not found', async () => {
  const box = await openMailbox(product)
  await box.receiveFiles({ subject: 'Hello' }, [{ filename: 'a.txt', content: 'x' }])
  const { mail_id } = await box.newest()

  const answer = await box.agent.get(`/mail-read?mail_id=${mail_id}&attachment=2`)

  expect(answer).toMatchObject({ status: 404, body: { error: 'mail_not_found' } })
})
