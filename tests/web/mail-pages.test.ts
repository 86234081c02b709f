/** The owner reads mail as text, with its proven sender, without script. */
import { expect, test } from 'vitest'
import { receiveMail } from '../../shared/mailbox/receive/receive.ts'
import { signedIn } from '../support/browserless.ts'
import { deliver, messageOf } from '../support/inbound.ts'
import { openPerson, signInAs } from '../support/person.ts'
import { type Agent, mailDomain, start } from '../support/world.ts'

const world = await start()

async function home() {
  const agent = await world.agent('full')
  const browser = await signedIn(world, agent)
  const at = `${agent.alias}@${mailDomain}`
  return { agent, browser, at }
}

/** Returns the page of the first mail in the list. */
function firstIn(html: string): string {
  const [, path = ''] = /href="(\/web\/mail\/[0-9a-f-]{36})"/.exec(html) ?? []
  return path
}

/** Sends a mail from the account. */
async function sent(agent: Agent) {
  const order = { to: ['friend@elsewhere.com'], subject: 'Our order', text: 'As agreed.' }
  return agent.post('/mail-send', order)
}

test('mail is listed with who is proven to have sent it, found by sender, and paged', async () => {
  const { agent, browser, at } = await home()
  expect((await browser.visit('/web/mail')).text).toContain('No mail has come in')
  await deliver(world.world, {
    to: at,
    from: 'a@shop.com',
    subject: 'Invoice',
    text: 'x',
    authenticated: 'shop.com',
  })
  await deliver(world.world, { to: at, from: 'b@bank.com', subject: '', text: 'y' })
  await sent(agent)

  const all = await browser.visit('/web/mail')

  expect(all.text).toMatch(/Our order .* To friend@elsewhere.com (On its way|Sent)/)
  expect(all.text).toMatch(/No subject .* b@bank.com Sender not verified/)
  expect(all.text).toMatch(/Invoice .* a@shop.com Proven to be from shop.com Not read by an agent/)
  const found = await browser.visit('/web/mail?from=shop.com&direction=in')
  expect(found.text).toContain('Invoice')
  expect(found.text).not.toContain('b@bank.com')
  expect((await browser.visit('/web/mail?direction=out')).text).not.toContain('Invoice')
  for (let count = 0; count < 25; count += 1) {
    await deliver(world.world, {
      to: at,
      from: `c${count}@c.com`,
      subject: `No ${count}`,
      text: 'z',
    })
  }
  const older = await browser.visit('/web/mail')
  const [, next = ''] = /href="([^"]+)" rel="next"/.exec(older.html) ?? []
  expect(older.text).not.toContain('Invoice')
  expect((await browser.visit(next)).text).toContain('Invoice')
})

test('a mail is shown as text, whatever it is made of, and nothing in it is a link', async () => {
  const { browser, at } = await home()
  const written =
    'Hello &lt;b&gt;you&lt;/b&gt; &lt;script&gt;alert(1)&lt;/script&gt; \u202etxt\u200b'
  const html = `${written}<img src="https://evil.com/pixel.gif"><a href="https://evil.com">x</a>`
  await deliver(world.world, {
    to: at,
    from: 'a@evil.com',
    subject: '<i>Hi</i>\u202e',
    text: '',
    html,
  })
  const list = await browser.visit('/web/mail')

  const page = await browser.visit(firstIn(list.html))

  expect(page.html).toContain('Hello &lt;b&gt;you&lt;/b&gt;')
  expect(page.html).not.toMatch(/<script>|<img src="https|href="https:\/\/evil|[\u202e\u200b]/)
  expect(list.html).toContain('&lt;i&gt;Hi&lt;/i&gt;')
  expect(page.text).toContain('Sender Sender not verified')
})

test('the owner sees a code with what agents can do with it, and looking uses nothing up', async () => {
  const { agent, browser, at } = await home()
  const subject = 'Your verification code'
  const text = 'Your verification code is 482913. It is good for ten minutes.'
  await deliver(world.world, {
    to: at,
    from: 'no-reply@shop.com',
    subject,
    text,
    authenticated: 'shop.com',
  })
  const path = firstIn((await browser.visit('/web/mail')).html)

  const page = await browser.visit(path)

  expect(page.text).toContain('482913')
  expect(page.text).toContain('A code Agents can use it once at shop.com, without seeing it, until')
  const { body } = await agent.get(`/mail-read?mail_id=${path.split('/').at(-1)}`)
  expect(JSON.stringify(body)).not.toContain('482913')
  expect(body['codes']).toMatchObject([{ used: false }])
  await world.tick(901)
  expect((await browser.visit(path)).text).toContain('A code Expired unused')
})

test('agents read codes once the owner has proven itself and let them, and no longer than that', async () => {
  const person = await openPerson(world)
  const { agent, email } = person
  const browser = await signInAs(world, person)
  const to = `${agent.alias}@${mailDomain}`
  const text = 'Your verification code is 482913.'
  await deliver(world.world, {
    to,
    from: 'a@shop.com',
    subject: 'Code',
    text,
    authenticated: 'shop.com',
  })
  const mail_id = firstIn((await browser.visit('/web/mail')).html)
    .split('/')
    .at(-1)
  const read = async () => JSON.stringify((await agent.get(`/mail-read?mail_id=${mail_id}`)).body)
  await world.tick(601)
  await browser.visit('/web/mail')

  const refused = await browser.submit({ wanted: 'shown' }, '/web/mail/codes')

  expect(refused.path).toMatch(/^\/web\/proof/)
  expect(await read()).not.toContain('482913')
  await browser.submit({ password: person.password }, '/web/proof')
  await browser.submit({ wanted: 'shown' }, '/web/mail/codes')
  expect(await read()).toContain('482913')
  expect(JSON.stringify(await world.mails(email))).toContain(
    'Agents can now read codes in your emails',
  )
  await world.tick(601)
  await browser.visit('/web/mail')
  await browser.submit({ wanted: 'sealed' }, '/web/mail/codes')
  expect(await read()).not.toContain('482913')
})

test('an attachment is downloaded as bytes of no type, under a name that is only a name', async () => {
  const { browser, at } = await home()
  const headers = { 'Content-Type': 'multipart/mixed; boundary=b' }
  const letter = { to: at, from: 'a@shop.com', subject: 'File', text: '' }
  const [head] = messageOf({ ...letter, headers }).split('\r\n\r\n')
  const raw = `${head?.replace(/\r\nContent-Type: text\/plain.*/, '')}\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nHere.\r\n--b\r\nContent-Type: text/html; name="../../x\\".html"\r\nContent-Disposition: attachment; filename="../../évil page.html"\r\n\r\n<script>alert(1)</script>\r\n--b--\r\n`
  const delivery = { envelopeFrom: letter.from, envelopeTo: at, raw: new TextEncoder().encode(raw) }
  expect(await receiveMail(world.world, delivery)).toBe('kept')
  const path = firstIn((await browser.visit('/web/mail')).html)
  expect((await browser.visit(path)).html).toContain(`href="${path}/file/1" download`)

  const file = await browser.send(`${path}/file/1`)

  expect(file.html.trim()).toBe('<script>alert(1)</script>')
  expect(file.headers.get('content-type')).toBe('application/octet-stream')
  expect(file.headers.get('content-disposition')).toMatch(
    /^attachment; filename="[A-Za-z0-9._-]+"$/,
  )
  expect(file.headers.get('x-content-type-options')).toBe('nosniff')
  for (const none of ['0', '2', '-1', 'x', '1e9', '99999999999999999999']) {
    expect((await browser.send(`${path}/file/${none}`)).status, none).toBe(404)
  }
})

test('a long mail is read page by page to its end', async () => {
  const { browser, at } = await home()
  const text = Array.from({ length: 6_000 }, (_, line) => `This is line ${line} of it.`).join('\n')
  await deliver(world.world, { to: at, from: 'a@shop.com', subject: 'Long', text })
  let path = firstIn((await browser.visit('/web/mail')).html)
  let read = ''

  for (let page = 0; path !== '' && page < 50; page += 1) {
    const { html, text: seen } = await browser.visit(path)
    read += seen
    const [, next = ''] = /href="([^"]+\?from=\d+)"/.exec(html) ?? []
    path = next
  }

  expect(read).toContain('This is line 0 of it.')
  expect(read).toContain('This is line 5999 of it.')
})

test("a stranger's mail answers as one that does not exist", async () => {
  const { browser, at } = await home()
  await deliver(world.world, { to: at, from: 'a@shop.com', subject: 'Private', text: 'Words' })
  const path = firstIn((await browser.visit('/web/mail')).html)
  const stranger = await signedIn(world, await world.agent('full'))

  const theirs = await stranger.visit(path)
  const none = await stranger.visit('/web/mail/0f8fad5b-d9cb-469f-a165-70867728950e')

  expect(theirs.status).toBe(404)
  expect(theirs.text.replace(/Request .*/, '')).toBe(none.text.replace(/Request .*/, ''))
})

test('the feed leads to the mail that it tells of', async () => {
  const { browser, at } = await home()
  await deliver(world.world, { to: at, from: 'a@shop.com', subject: 'Private', text: 'Words' })
  const feed = await browser.visit('/web/activity?category=mail')
  const [, item = ''] = /href="(\/web\/activity\/\d+)"/.exec(feed.html) ?? []

  const page = await browser.visit(item)

  expect(page.text).toContain('From a@shop.com')
  expect((await browser.visit(firstIn(page.html))).text).toContain('Subject Private')
})
